/** Relative links and anchors of every Markdown page. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../harness/docs-blocks.ts'

const IGNORED = /(^|\/)(node_modules|dist|data|vendor)\//
const PAGES = [...new Bun.Glob('**/*.md').scanSync({ cwd: ROOT, dot: true })].filter(path => !IGNORED.test(path)).sort()

/** The anchors of a page, as GitHub derives them from headings; a repeated heading gets a number. */
function anchorsOf(page: string): Set<string> {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '')
    const anchor = plain
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`)
  }
  return anchors
}

function findBroken(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
  const links = Array.from(text.matchAll(/\]\((?![a-z]+:)([^)\s]+)(?: "[^"]*")?\)/g), ([, link = '']) => link)
  return links.filter(link => {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path))
    if (!existsSync(join(ROOT, target))) return true
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(decodeURIComponent(anchor))
  })
}

test('there are pages', () => {
  expect(PAGES).toEqual(expect.arrayContaining(['README.md', 'SECURITY.md', 'docs/http.md', 'examples/README.md']))
})

test.each(PAGES)('every link of %s leads to a file, and to a heading in it', page => {
  expect(findBroken(page)).toEqual([])
})

test('every threat of SECURITY.md names a test', () => {
  const page = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')
  const table = page.slice(page.indexOf('| threat |')).split('\n').slice(2).filter(Boolean)
  expect(table.length).toBeGreaterThan(20)
  expect(table.filter(row => !/\]\(test\/[^)]+\.test\.ts\) \|$|\.test\.ts\) \|$/.test(row))).toEqual([])
})
