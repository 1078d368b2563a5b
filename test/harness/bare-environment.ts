/** What a process that a test starts finds set: its settings are the test's to choose, not the machine's. */

export function bareEnvironment(): Record<string, string> {
  // How WebAssembly is compiled is none of the proxy's settings.
  const { PATH = '', HOME = '', BUN_JSC_useBBQTierUpChecks = '1' } = process.env
  return { PATH, HOME, BUN_JSC_useBBQTierUpChecks }
}
