/** Builds the pages' files with Bun's bundler. Nothing is fetched from the network. */
import { fileURLToPath } from 'node:url'

/** A file as it is served. Its name ends in a content hash, except for index.html. */
export interface Asset {
  name: string
  type: string
  bytes: Uint8Array
}

const PAGE = fileURLToPath(new URL('pages/index.html', import.meta.url))

/** Throws when a page does not compile. */
export async function bundlePages(): Promise<Asset[]> {
  const { default: tailwind } = await import('bun-plugin-tailwind')
  const built = await Bun.build({
    entrypoints: [PAGE],
    minify: true,
    target: 'browser',
    publicPath: '/dashboard/',
    naming: { asset: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]', entry: '[name].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [tailwind],
  })
  return Promise.all(
    built.outputs.map(async output => ({
      name: output.path.replace(/^.*\//, ''),
      type: output.type,
      bytes: new Uint8Array(await output.arrayBuffer()),
    })),
  )
}
