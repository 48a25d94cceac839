// Package cupelgo holds no code. It gathers the packages of this module, so that
//
//	go get github.com/wollax/cupel-go
//
// gets all that they import. Import the one that you need:
//
//   - cupelchat fits the messages of one request into a budget;
//   - cupelsession does that for a conversation, turn by turn;
//   - cupelreduce shortens texts;
//   - cupelrelevance scores items by a question;
//   - cupelrecord records the selections of a service;
//   - cupelinspect writes a selection as an HTML page.
//
// The core, github.com/wollax/cupel-go/cupel, is a module of its own without dependencies.
package cupelgo

import (
	// For the checksums that go get writes into the caller's go.sum.
	_ "github.com/wollax/cupel-go/cupelchat/agent"
	_ "github.com/wollax/cupel-go/cupelinspect"
	_ "github.com/wollax/cupel-go/cupelrecord"
	_ "github.com/wollax/cupel-go/cupelreduce"
	_ "github.com/wollax/cupel-go/cupelrelevance"
	_ "github.com/wollax/cupel-go/cupelsession"
)
