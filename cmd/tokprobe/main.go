// Command tokprobe watches LLM endpoints from the outside.
package main

func main() {}
