/** Bodies that are not one JSON object. */
import { chat, type HostileRequest, MARKER, MODEL, write } from './hostile-request.ts'

const GOOD = JSON.stringify(chat())
const MESSAGES = `"messages":[{"role":"user","content":"${MARKER}"}]`

const NOT_JSON: Record<string, string | Uint8Array> = {
  nothing: '',
  spaces: ' \r\n\t ',
  'one brace': '{',
  'a closing brace': '}',
  'a bracket': '[',
  'a quote': '"',
  'a comma': ',',
  'a NUL': '\0',
  'NULs around a good body': `\0${GOOD}\0`,
  'cut in a key': GOOD.slice(0, 4),
  'cut after a colon': '{"model":',
  'cut in a string': GOOD.slice(0, GOOD.indexOf(MARKER) + 10),
  'cut before the last brace': GOOD.slice(0, -1),
  'one brace too many': `${GOOD}}`,
  'two objects': GOOD + GOOD,
  'two lines of JSON': `${GOOD}\n${GOOD}\n`,
  'a word after it': `${GOOD} ${MARKER}`,
  'a trailing comma': `{"model":"${MODEL}",${MESSAGES},}`,
  'a trailing comma in an array': `{"model":"${MODEL}","messages":[{"role":"user","content":"${MARKER}"},]}`,
  'a doubled comma': `{"model":"${MODEL}",,${MESSAGES}}`,
  'no comma': `{"model":"${MODEL}" ${MESSAGES}}`,
  'no colon': `{"model" "${MODEL}",${MESSAGES}}`,
  'an equals sign': `{"model"="${MODEL}",${MESSAGES}}`,
  'single quotes': GOOD.replaceAll('"', "'"),
  'typographic quotes': GOOD.replaceAll('"', '”'),
  'bare keys': `{model:"${MODEL}",${MESSAGES}}`,
  'a numeric key': `{1:2,"model":"${MODEL}",${MESSAGES}}`,
  'a comment': `{/* ${MARKER} */"model":"${MODEL}",${MESSAGES}}`,
  'a line comment': `// ${MARKER}\n${GOOD}`,
  NaN: `{"model":"${MODEL}",${MESSAGES},"seed":NaN}`,
  Infinity: `{"model":"${MODEL}",${MESSAGES},"seed":-Infinity}`,
  undefined: `{"model":"${MODEL}",${MESSAGES},"seed":undefined}`,
  'capital True': `{"model":"${MODEL}",${MESSAGES},"stream":True}`,
  'a hexadecimal number': `{"model":"${MODEL}",${MESSAGES},"seed":0x10}`,
  'a leading zero': `{"model":"${MODEL}",${MESSAGES},"seed":007}`,
  'a leading plus': `{"model":"${MODEL}",${MESSAGES},"seed":+1}`,
  'a lone minus': `{"model":"${MODEL}",${MESSAGES},"seed":-}`,
  'a number that ends in a dot': `{"model":"${MODEL}",${MESSAGES},"seed":1.}`,
  'an empty exponent': `{"model":"${MODEL}",${MESSAGES},"seed":1e}`,
  'an underscore in a number': `{"model":"${MODEL}",${MESSAGES},"seed":1_000}`,
  'an unknown escape': `{"model":"${MODEL}","messages":[{"role":"user","content":"\\x41${MARKER}"}]}`,
  'half a Unicode escape': `{"model":"${MODEL}","messages":[{"role":"user","content":"${MARKER}\\u12"}]}`,
  'a line feed in a string': `{"model":"${MODEL}","messages":[{"role":"user","content":"${MARKER}\n"}]}`,
  'a tab in a string': `{"model":"${MODEL}","messages":[{"role":"user","content":"\t${MARKER}"}]}`,
  'a raw NUL in a string': `{"model":"${MODEL}","messages":[{"role":"user","content":"\0${MARKER}"}]}`,
  'an unclosed string': `{"model":"${MODEL}","messages":[{"role":"user","content":"${MARKER}}]}`,
  'two byte order marks': `\uFEFF\uFEFF${GOOD}`,
  'a no-break space before it': `\u00A0${GOOD}`,
  'UTF-16': Buffer.from(GOOD, 'utf16le'),
  XML: `<?xml version="1.0"?><model>${MARKER}</model>`,
  YAML: `model: ${MODEL}\nmessages:\n  - role: user\n    content: ${MARKER}\n`,
  'a query string': `model=${MODEL}&messages=${MARKER}`,
  'an assignment': `x = ${GOOD}`,
  'a prefix against script inclusion': `)]}',\n${GOOD}`,
}

const NOT_AN_OBJECT: Record<string, string> = {
  null: 'null',
  true: 'true',
  'a number': '42',
  'a gigantic number': '9'.repeat(5_000),
  'a string': `"${MARKER}"`,
  'an empty array': '[]',
  'an array of a good body': `[${GOOD}]`,
}

const NOT_UTF8: Record<string, Uint8Array> = {
  'a lone 0xFF': splice(0xff),
  'a cut sequence': splice(0xe2, 0x82),
  'an overlong slash': splice(0xc0, 0xaf),
  'a surrogate half': splice(0xed, 0xa0, 0x80),
  'a code point beyond Unicode': splice(0xf5, 0x80, 0x80, 0x80),
  'Latin-1': Buffer.from(JSON.stringify(chat({ user: 'café' })), 'latin1'),
  'gzip without saying so': Bun.gzipSync(Buffer.from(GOOD)),
}

/** A valid body with these bytes in its prompt. */
function splice(...bytes: number[]): Uint8Array {
  const at = GOOD.indexOf(MARKER)
  return Buffer.concat([Buffer.from(GOOD.slice(0, at)), Buffer.from(bytes), Buffer.from(GOOD.slice(at))])
}

function refuseAll(kind: string, bodies: Record<string, string | Uint8Array>, message: string): HostileRequest[] {
  return Object.entries(bodies).map(([name, body]) => ({
    name: `${kind}: ${name}`,
    send: write({ body }),
    statuses: [400],
    error: { code: 'invalid_request_error', message, param: null },
  }))
}

export const BROKEN_JSON: HostileRequest[] = [
  ...refuseAll(
    'not JSON',
    NOT_JSON,
    'We could not parse the JSON body of your request: the body must be one valid JSON object.',
  ),
  ...refuseAll('not an object', NOT_AN_OBJECT, 'The body of your request must be a JSON object.'),
  ...refuseAll(
    'doubled keys',
    { 'the model twice': `{"model":"x","model":"${MODEL}",${MESSAGES}}` },
    'The body of your request has the same key twice in one object; keep one of them.',
  ),
  ...refuseAll('not UTF-8', NOT_UTF8, 'The body of your request must be UTF-8 text.'),
]
