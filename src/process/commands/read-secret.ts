/** Reads a provider's key from standard input, or asks for it on a terminal, which then does not show it. */

const MAX_LENGTH = 1_024

export async function readSecret(): Promise<string> {
  const secret = (process.stdin.isTTY ? await readHiddenLine() : await Bun.stdin.text()).trim()
  if (secret === '') throw new Error('the key is missing: pass it on standard input')
  if (!/^[\x21-\x7e]+$/.test(secret) || secret.length > MAX_LENGTH)
    throw new Error(
      `the key on standard input is not valid: it must be one word of up to ${MAX_LENGTH} printable ASCII characters`,
    )
  return secret
}

async function readHiddenLine(): Promise<string> {
  const setTerminal = (mode: 'echo' | '-echo') => Bun.spawnSync(['stty', mode], { stdin: 'inherit' })
  process.once('SIGINT', () => process.exit(130)).once('exit', () => setTerminal('echo'))
  setTerminal('-echo')
  process.stderr.write('Key: ')
  for await (const line of console) return line
  return ''
}
