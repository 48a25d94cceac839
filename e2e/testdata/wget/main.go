// Command wget stands in for that of BusyBox in an image that has nothing else:
//
//	wget -q -O FILE URL
//
// It exits with 1 unless the answer's status is 200, as that of BusyBox does.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "wget:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 || args[0] != "-q" || args[1] != "-O" || args[2] != os.DevNull {
		return fmt.Errorf("usage: wget -q -O %s URL", os.DevNull)
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, args[3], http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("server returned error: %s", response.Status)
	}
	return nil
}
