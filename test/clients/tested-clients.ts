/** The tested clients. docs/clients.md contains this list, with the versions that the tests use. */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'

interface TriedClient {
  client: string
  /** The name under which the version is pinned; for a client without a package, its repository. */
  packages: readonly string[]
  doors: string
  /** The vendors whose models are used. */
  models: string
  tried: string
  /** Path of the test below this folder. */
  test: string
}

const OWN = 'OpenAI, Claude, aggregator'
const ALL = 'OpenAI, Claude, Groq, aggregator'

export const TESTED_CLIENTS: readonly TriedClient[] = [
  {
    client: 'AI SDK',
    packages: ['ai', 'ai-6', 'ai-5'],
    doors: 'Responses, Messages, chat',
    models: ALL,
    tried: 'three turns, streamed, a call with text before it',
    test: 'ai-sdk.test.ts',
  },
  {
    client: 'openai for JavaScript',
    packages: ['openai'],
    doors: 'chat, Responses, embeddings, images, audio, files, batches, Realtime',
    models: ALL,
    tried: 'streamed, calls, earlier responses and items by id',
    test: 'openai.test.ts',
  },
  {
    client: '@anthropic-ai/sdk',
    packages: ['@anthropic-ai/sdk'],
    doors: 'Messages',
    models: OWN,
    tried: 'streamed, calls, counting, batches',
    test: 'messages.test.ts',
  },
  {
    client: '@google/genai',
    packages: ['@google/genai'],
    doors: 'Gemini, embeddings, models',
    models: 'Claude, aggregator',
    tried: 'streamed, calls, a chat, counting',
    test: 'genai.test.ts',
  },
  {
    client: 'openai-agents for JavaScript',
    packages: ['@openai/agents'],
    doors: 'Responses',
    models: 'aggregator',
    tried: 'an agent with a tool, streamed',
    test: 'defaults.test.ts',
  },
  {
    client: 'LangChain, LlamaIndex for JavaScript',
    packages: ['@langchain/openai', '@llamaindex/openai'],
    doors: 'embeddings',
    models: 'OpenAI, aggregator',
    tried: 'batches of texts',
    test: 'embedders.test.ts',
  },
  ...(
    [
      [
        'openai for Python',
        'openai',
        'chat, Responses, audio, images, Realtime',
        'streamed, calls, a session of two turns',
      ],
      ['anthropic for Python', 'anthropic', 'Messages', 'streamed, calls'],
      ['openai-agents for Python', 'openai-agents', 'Responses, chat', 'an agent with a tool, streamed'],
      ['pydantic-ai', 'pydantic-ai-slim', 'Responses, chat, Messages', 'an agent with a tool, streamed'],
      ['LangChain for Python', 'langchain-openai', 'chat, Responses', 'streamed, calls'],
      ['google-genai for Python', 'google-genai', 'Gemini', 'streamed, calls, a chat, counting'],
      ['LangChain for Gemini', 'langchain-google-genai', 'Gemini', 'streamed, a call'],
      ['LiteLLM', 'litellm', 'chat, Responses, Messages', 'streamed, calls'],
      ['agno', 'agno', 'Responses, chat, Messages', 'an agent with a tool, streamed'],
    ] as const
  ).map(([client, name, doors, tried]) => ({
    client,
    packages: [name],
    doors,
    models: OWN,
    tried,
    test: `python/test_${name.replace(/-slim$|(?<=langchain)-openai/, '').replaceAll('-', '_')}.py`,
  })),
  ...(
    [
      [
        'openai-go',
        'github.com/openai/openai-go/v3',
        'chat, Responses',
        'two turns, by id too, streamed, a call',
        'go/main.go',
      ],
      [
        'anthropic-sdk-go',
        'github.com/anthropics/anthropic-sdk-go',
        'Messages',
        'two turns, streamed, a call',
        'go/main.go',
      ],
      ['openai-java', 'openai-java', 'chat, Responses', 'two turns, by id too, streamed, a call', 'java/Clients.java'],
      ['anthropic-java', 'anthropic-java', 'Messages', 'two turns, streamed, a call', 'java/Clients.java'],
      ['LangChain4j', 'langchain4j', 'chat', 'an assistant with a tool, two turns, streamed', 'java/Clients.java'],
      [
        'async-openai for Rust',
        'async-openai',
        'chat, Responses, embeddings',
        'two turns, by id too, streamed, a call',
        'rust/main.rs',
      ],
    ] as const
  ).map(([client, name, doors, tried, test]) => ({ client, packages: [name], doors, models: ALL, tried, test })),
  {
    client: 'Codex',
    packages: ['@openai/codex'],
    doors: 'Responses',
    models: 'OpenAI, aggregator',
    tried: 'a shell command and its result',
    test: 'command-line/command-line.test.ts',
  },
  {
    client: 'Claude Code',
    packages: ['@anthropic-ai/claude-code'],
    doors: 'Messages',
    models: 'OpenAI, Claude, aggregator',
    tried: 'a file that it reads, and its content; with OpenAI, a loop of parallel calls',
    test: 'command-line/command-line.test.ts',
  },
  {
    client: 'opencode',
    packages: ['opencode-ai'],
    doors: 'chat',
    models: 'aggregator',
    tried: 'a file that it reads, and its content',
    test: 'command-line/command-line.test.ts',
  },
  {
    client: 'Cline',
    packages: ['@cline/cli'],
    doors: 'chat',
    models: 'aggregator',
    tried: 'a file that it reads, and its content',
    test: 'command-line/command-line.test.ts',
  },
  {
    client: 'Mastra',
    packages: ['@mastra/core'],
    doors: 'chat, Responses',
    models: ALL,
    tried: 'an agent with a tool, two turns, streamed',
    test: 'command-line/command-line.test.ts',
  },
  {
    client: 'Zed, VS Code',
    packages: ['zed-industries/zed', 'microsoft/vscode-copilot-chat'],
    doors: 'chat, Responses',
    models: ALL,
    tried: 'requests built like in their source code: a call and its result, streamed',
    test: 'editors.test.ts',
  },
]

/** The file that pins a test's versions, and the pattern of a pin, by test or by its folder. */
const PINS: Readonly<Record<string, { path: string; pin: (name: string) => RegExp }>> = {
  python: { path: 'python/requirements.txt', pin: name => new RegExp(`^${name}==(\\S+)`, 'm') },
  go: { path: 'go/go.mod', pin: name => new RegExp(`^\\s*${name} v(\\S+)`, 'm') },
  java: {
    path: 'java/pom.xml',
    pin: name => new RegExp(`<artifactId>${name}</artifactId><version>([\\d.]+)<`),
  },
  rust: { path: 'rust/Cargo.toml', pin: name => new RegExp(`^${name} = \\{ version = "=([\\d.]+)"`, 'm') },
  'command-line': { path: 'command-line/install-clients.ts', pin: name => new RegExp(`${name}[^@]*@([\\d.]+)['\`]`) },
  'editors.test.ts': { path: 'editors.test.ts', pin: name => new RegExp(`${name} at ([\\da-f]{8})`) },
  '.': { path: '../../package.json', pin: name => new RegExp(`"${name}": "(?:npm:.+@)?([\\d.]+)"`) },
}

export function writeClientList(): string {
  return TESTED_CLIENTS.map(({ client, packages, doors, models, tried, test }) => {
    const versions = packages.map(name => findVersion(name, test))
    return `- ${client} ${versions.join(', ')}: ${doors}; ${models.replace('OpenAI, Claude, Groq, aggregator', 'all')}; ${tried}`
  }).join('\n')
}

/** Throws for a package without a pinned version. */
function findVersion(name: string, test: string): string {
  const { path, pin } = PINS[test] ?? PINS[dirname(test)] ?? { path: test, pin: () => /$^/ }
  const escaped = name.replaceAll(/[/.@-]/g, '\\$&')
  const version = pin(escaped).exec(readFileSync(new URL(path, import.meta.url), 'utf8'))?.[1]
  if (version === undefined) throw new Error(`${path} pins no ${name}`)
  return version
}
