import { expect, test } from 'vitest'
import manifest from '../../package.json'

interface Component {
  type: string
  name: string
  version: string
  'bom-ref': string
  hashes?: { alg: string; content: string }[]
}

test('lists each dependency as it is installed, with its hash and its own dependencies', async () => {
  const child = Bun.spawnSync(['bun', new URL('../../scripts/write-sbom.ts', import.meta.url).pathname])
  expect(child.stderr.toString()).toBe('')
  const { components, dependencies, ...head } = JSON.parse(child.stdout.toString())
  expect(head).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { component: { type: 'application', name: manifest.name, version: manifest.version } },
  })
  const libraries = components.filter(({ type }: Component) => type === 'library') as Component[]
  const versions = new Set(libraries.map(({ name, version }) => `${name}@${version}`))
  for (const [name, version] of Object.entries(manifest.dependencies)) expect(versions).toContain(`${name}@${version}`)
  for (const { hashes, name } of libraries)
    expect([name, hashes]).toEqual([name, [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]])
  const refs = [head.metadata.component, ...components].map(component => component['bom-ref'])
  expect(new Set(refs).size).toBe(refs.length)
  expect(dependencies.map(({ ref }: { ref: string }) => ref)).toEqual(refs.filter(ref => !ref.includes('oven-sh')))
  const [self] = dependencies
  expect(self.dependsOn).toHaveLength(1 + Object.keys(manifest.dependencies).length)
  for (const { dependsOn } of dependencies) expect(refs).toEqual(expect.arrayContaining(dependsOn))
})
