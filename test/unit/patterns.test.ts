/** `bun run check` rejects regular expressions whose time grows faster than their text. */
import { expect, test } from 'vitest'
import { findSlow, type Pattern } from '../../scripts/check-patterns.ts'

const ask = ({ source, flags }: RegExp) => findSlow({ source, flags })

// Patterns are strings, because the linter would change some literals.
test.each([
  'a search that begins anew at each place: \\/+$',
  'of more than one character: (?:\\[\\d*\\])+$',
  'a beginning that eats its end: ^.*\\[([^\\]]*)\\]$',
  'parts that may share: ^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$',
  'a look behind: (?<=\\/models\\/[^/]+:)(\\w+Contents?|countTokens)$',
  'an option between two of a kind: \\{(\\d+)(,?)(\\d*)\\}',
  'a list in a list: ^(?:a+)+$',
])('rejects %s', named => {
  expect(ask(new RegExp(named.slice(named.indexOf(': ') + 2)))).not.toBeNull()
})

test.each([/(?<!\/)\/+$/, /^[^@\s]+@[^@\s][^@\s.]*\.[^@\s]+$/, /\{(\d+)(?:(,)(\d*))?\}/, /\s+/, /^Bearer +(\S+) *$/i])(
  'accepts %s',
  pattern => expect(ask(pattern)).toBeNull(),
)

test('checks literals, and patterns that modules build', () => {
  // The patterns are collected in a separate process, which has not loaded the modules yet.
  const list = `console.log(JSON.stringify(await (await import('./scripts/check-patterns.ts')).collectPatterns()))`
  const { stdout } = Bun.spawnSync([process.execPath, '-e', list])
  const patterns: Pattern[] = JSON.parse(stdout.toString())
  const sources = patterns.map(({ place, source }) => `${place.split(':')[0]} ${source}`)
  expect(sources).toContain('src/formats/stored-object-references.ts (?:^|_)file_ids?$')
  expect(sources.filter(each => each.startsWith('src/providers/stored-object-collections.ts ^'))).toHaveLength(1)
})
