// OpenAI's and Anthropic's packages for Go; only base URL and key are changed. Prints a line for each conversation: PASSED or FAILED, with its
// client, its endpoint and its name.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

var (
	ctx    = context.Background()
	schema = map[string]any{
		"type":       "object",
		"properties": map[string]any{"place": map[string]any{"type": "string"}},
		"required":   []string{"place"},
	}
)

func main() {
	root := os.Getenv("PROXY_ROOT")
	for _, target := range []struct {
		name   string
		models []string
	}{
		{"direct", []string{"gpt-5-mini", "claude-haiku-4-5", "llama-3.3-70b-versatile"}},
		{"aggregator", []string{"openai/gpt-5-mini", "anthropic/claude-haiku-4.5", "meta-llama/llama-3.3-70b-instruct"}},
	} {
		key := os.Getenv("PROXY_KEY_" + strings.ToUpper(target.name))
		ai := openai.NewClient(option.WithBaseURL(root+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
		claude := anthropic.NewClient(
			anthropicoption.WithBaseURL(root), anthropicoption.WithAPIKey(key), anthropicoption.WithMaxRetries(0))
		for _, model := range target.models {
			at := " of the " + target.name + "'s " + model
			try("openai-go chat turns"+at, func() error { return chatTurns(ai, model) })
			try("openai-go chat streamed"+at, func() error { return chatStreamed(ai, model) })
			try("openai-go chat tools"+at, func() error { return chatTools(ai, model) })
			try("openai-go responses turns"+at, func() error { return responseTurns(ai, model) })
			try("openai-go responses streamed"+at, func() error { return responseStreamed(ai, model) })
			try("anthropic-sdk-go messages turns"+at, func() error { return messageTurns(claude, model) })
			try("anthropic-sdk-go messages streamed"+at, func() error { return messageStreamed(claude, model) })
			try("anthropic-sdk-go messages tools"+at, func() error { return messageTools(claude, model) })
		}
	}
	ai := openai.NewClient(option.WithBaseURL(root+"/v1"), option.WithAPIKey("lgw_proj_unknown"), option.WithMaxRetries(0))
	try("openai-go chat refused", func() error {
		var refused *openai.Error
		if _, err := ask(ai, "gpt-5-mini", openai.UserMessage("Hi")); !errors.As(err, &refused) || refused.StatusCode != 401 {
			return fmt.Errorf("not a 401: %v", err)
		}
		return nil
	})
}

func try(name string, run func() error) {
	if err := run(); err != nil {
		fmt.Printf("FAILED %s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", " "))
	} else {
		fmt.Println("PASSED " + name)
	}
}

func said(text string) error {
	if len(text) < 5 {
		return fmt.Errorf("hardly anything was said: %q", text)
	}
	return nil
}

func ask(ai openai.Client, model string, messages ...openai.ChatCompletionMessageParamUnion) (*openai.ChatCompletion, error) {
	return ai.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{Model: model, Messages: messages})
}

func chatTurns(ai openai.Client, model string) error {
	first := openai.UserMessage("Name a river.")
	answer, err := ask(ai, model, first)
	if err != nil {
		return err
	}
	second, err := ask(ai, model, first, answer.Choices[0].Message.ToParam(), openai.UserMessage("And a lake."))
	if err != nil {
		return err
	}
	return said(second.Choices[0].Message.Content)
}

func chatStreamed(ai openai.Client, model string) error {
	stream := ai.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Name a mountain.")},
	})
	whole := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		if !whole.AddChunk(stream.Current()) {
			return errors.New("a chunk does not belong to its stream")
		}
	}
	if stream.Err() != nil {
		return stream.Err()
	}
	return said(whole.Choices[0].Message.Content)
}

func chatTools(ai openai.Client, model string) error {
	params := openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is the weather in Linz?")},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(
			openai.FunctionDefinitionParam{Name: "get_weather", Parameters: schema})},
	}
	answer, err := ai.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	calls := answer.Choices[0].Message.ToolCalls
	if len(calls) != 1 || !strings.Contains(calls[0].Function.Arguments, "Linz") {
		return fmt.Errorf("not called: %v", calls)
	}
	params.Messages = append(params.Messages, answer.Choices[0].Message.ToParam(), openai.ToolMessage("Sunny", calls[0].ID))
	answer, err = ai.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	return said(answer.Choices[0].Message.Content)
}

func responseParams(model, text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)},
	}
}

func responseTurns(ai openai.Client, model string) error {
	answer, err := ai.Responses.New(ctx, responseParams(model, "Name a river of Austria."))
	if err != nil {
		return err
	}
	params := responseParams(model, "And a lake.")
	params.PreviousResponseID = openai.String(answer.ID)
	if answer, err = ai.Responses.New(ctx, params); err != nil {
		return err
	}
	return said(answer.OutputText())
}

func responseStreamed(ai openai.Client, model string) error {
	stream := ai.Responses.NewStreaming(ctx, responseParams(model, "Name a mountain of Austria."))
	text, completed := "", false
	for stream.Next() {
		event := stream.Current()
		if event.Type == "response.output_text.delta" {
			text += event.Delta
		}
		completed = completed || event.Type == "response.completed"
	}
	if stream.Err() != nil || !completed {
		return fmt.Errorf("not completed: %v", stream.Err())
	}
	return said(text)
}

func messageParams(model, text string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: anthropic.Model(model), MaxTokens: 1_000,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))},
	}
}

func messageTurns(claude anthropic.Client, model string) error {
	params := messageParams(model, "Name a river of Italy.")
	answer, err := claude.Messages.New(ctx, params)
	if err != nil {
		return err
	}
	params.Messages = append(params.Messages, answer.ToParam(), anthropic.NewUserMessage(anthropic.NewTextBlock("And a lake.")))
	if answer, err = claude.Messages.New(ctx, params); err != nil {
		return err
	}
	return said(answer.Content[0].Text)
}

func messageStreamed(claude anthropic.Client, model string) error {
	stream := claude.Messages.NewStreaming(ctx, messageParams(model, "Name a mountain of Italy."))
	whole := anthropic.Message{}
	for stream.Next() {
		if err := whole.Accumulate(stream.Current()); err != nil {
			return err
		}
	}
	if stream.Err() != nil {
		return stream.Err()
	}
	return said(whole.Content[0].Text)
}

func messageTools(claude anthropic.Client, model string) error {
	params := messageParams(model, "What is the weather in Linz?")
	params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name: "get_weather", InputSchema: anthropic.ToolInputSchemaParam{Properties: schema["properties"], Required: []string{"place"}},
	}}}
	answer, err := claude.Messages.New(ctx, params)
	if err != nil {
		return err
	}
	use := answer.Content[len(answer.Content)-1]
	if use.Type != "tool_use" || !strings.Contains(string(use.Input), "Linz") {
		return fmt.Errorf("not called: %s", answer.RawJSON())
	}
	params.Messages = append(params.Messages, answer.ToParam(),
		anthropic.NewUserMessage(anthropic.NewToolResultBlock(use.ID, "Sunny", false)))
	if answer, err = claude.Messages.New(ctx, params); err != nil {
		return err
	}
	return said(answer.Content[0].Text)
}
