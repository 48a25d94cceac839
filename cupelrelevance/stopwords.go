package cupelrelevance

import (
	"strings"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/hungarian"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"github.com/kljensen/snowball/swedish"
)

// IsStopWord reports whether a word in small letters is one of those that hold
// sentences together and say nothing of their subject, such as "did", "what"
// and "the". The words are those of the Snowball stemmers, and what those lists
// leave out: words of questions, and what the tokenizer leaves of contractions
// ("didn", "ll"). [LanguageNone] has none.
func (l Language) IsStopWord(word string) bool {
	if furtherStopWords[l][word] {
		return true
	}
	switch l {
	case LanguageEnglish:
		return english.IsStopWord(word)
	case LanguageFrench:
		return french.IsStopWord(word)
	case LanguageHungarian:
		return hungarian.IsStopWord(word)
	case LanguageRussian:
		return russian.IsStopWord(word)
	case LanguageSpanish:
		return spanish.IsStopWord(word)
	case LanguageSwedish:
		return swedish.IsStopWord(word)
	case LanguageNorwegian, LanguageNone:
		// The Norwegian list of the stemmers has words such as "work", "time" and
		// "value", and lacks "I".
	}
	return false
}

var furtherStopWords = map[Language]map[string]bool{
	LanguageEnglish: wordSet(`could would might must shall us whose let also yet ever anyone anything anybody someone something
		somebody everyone everything everybody d m ll re ve ain aren couldn didn doesn hadn hasn haven isn mightn mustn needn
		shan shouldn wasn weren wouldn`),
	LanguageFrench: wordSet(`quand comment pourquoi où quel quelle quels quelles lequel laquelle dont donc si cet cette ils elles leurs
		être avoir fait faire peut aussi très ça cela plus moins quoi lors depuis`),
	LanguageHungarian: wordSet(`hol hova honnan hány mennyi kinek kit kik miről miben`),
	LanguageNorwegian: wordSet(`jeg du han hun den det vi dere de meg deg ham henne oss dem min mitt mine din ditt dine sin sitt sine hans
		hennes dens dets vår vårt våre deres seg selv og eller men for fordi om at som hvis når da mens enn så også bare ikke
		ja nei en et ei ingen noe noen alle alt hver hvert denne dette disse slik slike samme i på av til fra med uten ved hos
		mot mellom under over etter før siden gjennom blant innen inn ut opp ned her der hit dit nå er var vært være bli blir
		ble blitt har hadde hatt ha kan kunne vil ville skal skulle må måtte få får fikk hva hvem hvor hvorfor hvordan
		hvilken hvilket hvilke hvis å`),
	LanguageRussian: wordSet(`почему сколько откуда чей чья чьё который которая которое которые какое какие каким такая это эта ещё её
		наш ваш моё мои твой свой будут буду бывает`),
	LanguageSpanish: wordSet(`cuándo dónde quién quiénes cómo cuál cuáles cuánto cuánta cuántos cuántas si ser hace hacer puede así cada`), //nolint:misspell // it is Spanish
	LanguageSwedish: wordSet(`hos ska skall ville kunna vilja måste få får fick varifrån vems också bara ens`),
}

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
