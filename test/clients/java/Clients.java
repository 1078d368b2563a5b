// OpenAI's and Anthropic's packages for Java, and LangChain4j; only base URL and key are changed. Prints a line for each conversation: PASSED
// or FAILED, with its client, its endpoint and its name. The packages validate each response against their types.

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.errors.UnauthorizedException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.responses.EasyInputMessage;
import com.openai.models.responses.FunctionTool;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseInputItem;
import dev.langchain4j.agent.tool.P;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.TokenStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

public class Clients {
    static final Map<String, ?> PLACE = Map.of("place", Map.of("type", "string"));
    static final Map<String, ?> SCHEMA = Map.of("type", "object", "properties", PLACE, "required", List.of("place"));
    static final String ASKED = "What is the weather in Linz?";
    static final String ROOT = System.getenv("PROXY_ROOT");

    interface Conversation {
        String hold() throws Exception;
    }

    public static void main(String[] given) {
        targets("direct", "gpt-5-mini", "claude-haiku-4-5", "llama-3.3-70b-versatile");
        targets("aggregator", "openai/gpt-5-mini", "anthropic/claude-haiku-4.5", "meta-llama/llama-3.3-70b-instruct");
        attempt("openai-java chat refused", () -> {
            try {
                return openai("lgw_proj_unknown").chat().completions().create(chat("gpt-5-mini", "Hi").build()).id();
            } catch (UnauthorizedException refused) {
                return refused.code().orElse("");
            }
        }, "invalid_api_key");
        System.exit(0);
    }

    static void targets(String target, String... models) {
        String key = System.getenv("PROXY_KEY_" + target.toUpperCase());
        OpenAIClient ai = openai(key);
        AnthropicClient claude =
                AnthropicOkHttpClient.builder().baseUrl(ROOT).apiKey(key).maxRetries(0).responseValidation(true).build();
        for (String model : models) {
            String at = " of the " + target + "'s " + model;
            attempt("openai-java chat turns" + at, () -> chatTurns(ai, model));
            attempt("openai-java chat streamed" + at, () -> chatStreamed(ai, model));
            attempt("openai-java chat tools" + at, () -> chatTools(ai, model));
            attempt("openai-java responses turns" + at, () -> responseTurns(ai, model));
            attempt("openai-java responses streamed" + at, () -> responseStreamed(ai, model));
            attempt("openai-java responses tools" + at, () -> responseTools(ai, model));
            attempt("anthropic-java messages turns" + at, () -> messageTurns(claude, model));
            attempt("anthropic-java messages streamed" + at, () -> messageStreamed(claude, model));
            attempt("anthropic-java messages tools" + at, () -> messageTools(claude, model));
            attempt("langchain4j chat assistant" + at, () -> assistant(key, model));
            attempt("langchain4j chat assistant streamed" + at, () -> assistantStreamed(key, model));
        }
    }

    static OpenAIClient openai(String key) {
        return OpenAIOkHttpClient.builder().baseUrl(ROOT + "/v1").apiKey(key).maxRetries(0).responseValidation(true).build();
    }

    static void attempt(String name, Conversation conversation) {
        attempt(name, conversation, null);
    }

    /** Passes if the conversation returns the wanted text; without one, any text of 5 characters or more. */
    static void attempt(String name, Conversation conversation, String wanted) {
        try {
            String said = conversation.hold();
            boolean isSo = wanted == null ? said.length() >= 5 : said.equals(wanted);
            System.out.println(isSo ? "PASSED " + name : "FAILED " + name + ": it said " + said);
        } catch (Exception failure) {
            System.out.println("FAILED " + name + ": " + failure.toString().replace('\n', ' '));
        }
    }

    static void check(boolean isSo, Object seen) {
        if (!isSo) throw new IllegalStateException(seen.toString());
    }

    static ChatCompletionCreateParams.Builder chat(String model, String text) {
        return ChatCompletionCreateParams.builder().model(model).addUserMessage(text);
    }

    static String textOf(ChatCompletion answer) {
        return answer.validate().choices().get(0).message().content().orElse("");
    }

    static String chatTurns(OpenAIClient ai, String model) {
        var asked = chat(model, "Name a river of Chile.");
        var answer = ai.chat().completions().create(asked.build());
        asked.addMessage(answer.choices().get(0).message()).addUserMessage("And a lake.");
        return textOf(ai.chat().completions().create(asked.build()));
    }

    static String chatStreamed(OpenAIClient ai, String model) {
        var whole = ChatCompletionAccumulator.create();
        try (var stream = ai.chat().completions().createStreaming(chat(model, "Name a mountain of Chile.").build())) {
            stream.stream().forEach(chunk -> whole.accumulate(chunk.validate()));
        }
        return textOf(whole.chatCompletion());
    }

    static String chatTools(OpenAIClient ai, String model) {
        var parameters = FunctionParameters.builder();
        SCHEMA.forEach((name, value) -> parameters.putAdditionalProperty(name, JsonValue.from(value)));
        var asked = chat(model, ASKED)
                .addFunctionTool(FunctionDefinition.builder().name("get_weather").parameters(parameters.build()).build());
        var message = ai.chat().completions().create(asked.build()).choices().get(0).message();
        var call = message.toolCalls().orElseThrow().get(0).asFunction();
        check(call.function().arguments().contains("Linz"), message);
        asked.addMessage(message)
                .addMessage(ChatCompletionToolMessageParam.builder().toolCallId(call.id()).content("Sunny").build());
        return textOf(ai.chat().completions().create(asked.build()));
    }

    static ResponseCreateParams.Builder response(String model) {
        return ResponseCreateParams.builder().model(model);
    }

    static String textOf(Response response) {
        var text = new StringBuilder();
        response.validate().output().stream()
                .flatMap(item -> item.message().stream())
                .flatMap(message -> message.content().stream())
                .forEach(part -> text.append(part.asOutputText().text()));
        return text.toString();
    }

    static String responseTurns(OpenAIClient ai, String model) {
        var first = ai.responses().create(response(model).input("Name a river of Peru.").build());
        var second = ai.responses().create(response(model).input("And a lake.").previousResponseId(first.id()).build());
        check(textOf(ai.responses().retrieve(second.id())).length() >= 5, second);
        check(!ai.responses().inputItems().list(second.id()).data().isEmpty(), second);
        ai.responses().delete(second.id());
        return textOf(second);
    }

    static String responseStreamed(OpenAIClient ai, String model) {
        var whole = ResponseAccumulator.create();
        try (var stream = ai.responses().createStreaming(response(model).input("Name a mountain of Peru.").build())) {
            stream.stream().forEach(event -> whole.accumulate(event.validate()));
        }
        return textOf(whole.response());
    }

    static String responseTools(OpenAIClient ai, String model) {
        var parameters = FunctionTool.Parameters.builder();
        SCHEMA.forEach((name, value) -> parameters.putAdditionalProperty(name, JsonValue.from(value)));
        var tool = FunctionTool.builder().name("get_weather").parameters(parameters.build()).strict(false).build();
        List<ResponseInputItem> input = new ArrayList<>();
        input.add(ResponseInputItem.ofEasyInputMessage(
                EasyInputMessage.builder().role(EasyInputMessage.Role.USER).content(ASKED).build()));
        var answer = ai.responses().create(response(model).addTool(tool).inputOfResponse(input).build()).validate();
        for (var item : answer.output()) {
            item.message().map(ResponseInputItem::ofResponseOutputMessage).ifPresent(input::add);
            item.reasoning().map(ResponseInputItem::ofReasoning).ifPresent(input::add);
            item.functionCall().map(ResponseInputItem::ofFunctionCall).ifPresent(input::add);
        }
        var call = input.get(input.size() - 1).asFunctionCall();
        check(call.arguments().contains("Linz"), answer);
        input.add(ResponseInputItem.ofFunctionCallOutput(
                ResponseInputItem.FunctionCallOutput.builder().callId(call.callId()).output("Sunny").build()));
        return textOf(ai.responses().create(response(model).addTool(tool).inputOfResponse(input).build()));
    }

    static MessageCreateParams.Builder message(String model, String text) {
        return MessageCreateParams.builder().model(model).maxTokens(1_000).addUserMessage(text);
    }

    static String textOf(Message message) {
        var text = new StringBuilder();
        message.validate().content().forEach(block -> block.text().ifPresent(part -> text.append(part.text())));
        return text.toString();
    }

    static String messageTurns(AnthropicClient claude, String model) {
        var asked = message(model, "Name a river of Cuba.");
        asked.addMessage(claude.messages().create(asked.build())).addUserMessage("And a lake.");
        return textOf(claude.messages().create(asked.build()));
    }

    static String messageStreamed(AnthropicClient claude, String model) {
        var whole = MessageAccumulator.create();
        try (var stream = claude.messages().createStreaming(message(model, "Name a mountain of Cuba.").build())) {
            stream.stream().forEach(event -> whole.accumulate(event.validate()));
        }
        return textOf(whole.message());
    }

    static String messageTools(AnthropicClient claude, String model) {
        var properties = com.anthropic.core.JsonValue.from(PLACE);
        var schema = Tool.InputSchema.builder().putAdditionalProperty("properties", properties).addRequired("place").build();
        var asked = message(model, ASKED).addTool(Tool.builder().name("get_weather").inputSchema(schema).build());
        var answer = claude.messages().create(asked.build()).validate();
        var use = answer.content().get(answer.content().size() - 1).asToolUse();
        check(use._input().toString().contains("Linz"), answer);
        var result = ToolResultBlockParam.builder().toolUseId(use.id()).content("Sunny").build();
        asked.addMessage(answer).addUserMessageOfContentBlockParams(List.of(ContentBlockParam.ofToolResult(result)));
        return textOf(claude.messages().create(asked.build()));
    }

    public static class Weather {
        final List<String> places = new ArrayList<>();

        @dev.langchain4j.agent.tool.Tool("The weather of a place")
        public String get_weather(@P(name = "place", value = "its name") String place) {
            places.add(place);
            return "Sunny";
        }
    }

    interface Assistant {
        String chat(String said);
    }

    interface StreamingAssistant {
        TokenStream chat(String said);
    }

    static String assistant(String key, String model) {
        var weather = new Weather();
        var chatModel = OpenAiChatModel.builder().baseUrl(ROOT + "/v1").apiKey(key).modelName(model).maxRetries(0).build();
        var assistant = AiServices.builder(Assistant.class)
                .chatModel(chatModel)
                .tools(weather)
                .chatMemory(MessageWindowChatMemory.withMaxMessages(10))
                .build();
        assistant.chat(ASKED);
        check(weather.places.equals(List.of("Linz")), weather.places);
        return assistant.chat("And where was that?");
    }

    static String assistantStreamed(String key, String model) throws Exception {
        var weather = new Weather();
        var chatModel = OpenAiStreamingChatModel.builder().baseUrl(ROOT + "/v1").apiKey(key).modelName(model).build();
        var assistant = AiServices.builder(StreamingAssistant.class)
                .streamingChatModel(chatModel)
                .tools(weather)
                .chatMemory(MessageWindowChatMemory.withMaxMessages(10))
                .build();
        streamed(assistant.chat(ASKED));
        check(weather.places.equals(List.of("Linz")), weather.places);
        return streamed(assistant.chat("And where was it?"));
    }

    static String streamed(TokenStream stream) throws Exception {
        var whole = new CompletableFuture<String>();
        stream.onPartialResponse(part -> {})
                .onCompleteResponse(response -> whole.complete(response.aiMessage().text()))
                .onError(whole::completeExceptionally)
                .start();
        return whole.get(20, TimeUnit.SECONDS);
    }
}
