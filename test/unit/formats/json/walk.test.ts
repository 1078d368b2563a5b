/** The walk visits every value. Each collector gets the values that it needs, independently of the other collectors. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Visitor, walkJson } from '../../../../src/formats/json/walk.ts'

/** Collects the paths of all values except those inside a field with this name. */
function collectPaths(paths: string[], omitted: string | null = null): Visitor {
  return (_, name, _container, path) => {
    paths.push(JSON.stringify([...path, name]))
    return name !== omitted
  }
}

test('reaches every text and object at any place, once, in order', () => {
  const leaf = fc.oneof(fc.string(), fc.constant(null))
  const { value } = fc.letrec(tie => ({
    value: fc.oneof({ maxDepth: 6 }, leaf, fc.array(tie('value')), fc.dictionary(fc.string(), tie('value'))),
  }))
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), generated => {
      const root: object = JSON.parse(JSON.stringify(generated))
      const expected: string[] = []
      const list = (within: object, path: (string | number)[]) => {
        for (const [name, each] of Object.entries(within)) {
          const at = [...path, Array.isArray(within) ? Number(name) : name]
          expected.push(JSON.stringify(at))
          if (typeof each === 'object' && each !== null) list(each, at)
        }
      }
      list(root, [])
      const paths: string[] = []
      walkJson(root, collectPaths(paths))
      expect(paths).toEqual(expected)
    }),
  )
})

test('numbers in lists are skipped, in objects they are not', () => {
  const paths: string[] = []
  walkJson({ a: [1, 'x', true, [2]], b: 1 }, collectPaths(paths))
  expect(paths).toEqual(['["a"]', '["a",1]', '["a",3]', '["b"]'])
})

test('what is within a value that the visitor declines is skipped', () => {
  const paths: string[] = []
  walkJson({ a: { b: [{ c: 1 }] }, d: { e: 1 } }, collectPaths(paths, 'b'))
  expect(paths).toEqual(['["a"]', '["a","b"]', '["d"]', '["d","e"]'])
})
