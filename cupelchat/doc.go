// Package cupelchat fits a conversation with a language model into a budget. It
// reads the body of a request as items of package cupel, has them chosen, and
// writes a smaller body that the API accepts.
package cupelchat
