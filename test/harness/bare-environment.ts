/** The environment of a child process that a test starts: without the machine's settings, so that each test chooses its own. */

export function bareEnvironment(): Record<string, string> {
  // This variable configures the WebAssembly compiler, not the proxy.
  const { PATH = '', HOME = '', BUN_JSC_useBBQTierUpChecks = '1' } = process.env
  return { PATH, HOME, BUN_JSC_useBBQTierUpChecks }
}
