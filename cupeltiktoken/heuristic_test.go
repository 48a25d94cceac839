package cupeltiktoken_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wollax/cupel-go/cupel"
	"github.com/wollax/cupel-go/cupeltiktoken"
)

// scripts has the first article of the Universal Declaration of Human Rights in
// the scripts that most is written in, and a line of emoji.
var scripts = []struct{ language, text string }{
	{"English", "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood."},
	{"Spanish", "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros."},
	{"German", "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen."},
	{"Vietnamese", "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo hóa ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình anh em."},
	{"Greek", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης."},
	{"Russian", "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства."},
	{"Arabic", "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء."},
	{"Hebrew", "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה."},
	{"Hindi", "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।"},
	{"Thai", "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ"},
	{"Chinese", "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。"},
	{"Japanese", "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。"},
	{"Korean", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다."},
	{"emoji", "😀😂🥰😎🤔👍🙏🎉🔥💡🚀📦🐛🧪🔧🌍🍎🚗🏠🎵"},
}

// TestHeuristicCounterByScript compares the table in docs/benchmarks.md, and with it the
// estimate of each script, with the exact counts.
func TestHeuristicCounterByScript(t *testing.T) {
	page, err := os.ReadFile("../docs/benchmarks.md")
	if os.IsNotExist(err) {
		t.Skip("the module stands alone: the page is outside of it, in the repository")
	}
	require.NoError(t, err)
	var table strings.Builder
	table.WriteString("| text | cl100k_base | o200k_base |\n|---|---|---|\n")
	for _, s := range scripts {
		estimate, err := cupel.HeuristicCounter{}.CountTokens(s.text)
		require.NoError(t, err)
		ratio := func(e cupeltiktoken.Encoding) float64 {
			return float64(estimate) / float64(count(t, counterOf(t, e), s.text))
		}
		fmt.Fprintf(&table, "| %s | %.2f | %.2f |\n", s.language, ratio(cupeltiktoken.EncodingCl100kBase), ratio(cupeltiktoken.EncodingO200kBase))
		r := ratio(cupeltiktoken.EncodingCl100kBase)
		assert.GreaterOrEqual(t, r, 0.6, s.language)
		assert.LessOrEqual(t, r, 1.7, s.language)
	}
	require.Contains(t, string(page), table.String())
}
