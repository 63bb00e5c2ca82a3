/** One product's code as few files of JavaScript, with Rolldown: our sources and every pure JavaScript dependency. */
import { dirname, join, relative, sep } from 'node:path'
import { rolldown, type Plugin } from 'rolldown'
import { packageOf } from '../../packages/ui/vite/bundled-packages.ts'
import type { Product } from './products.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What went into the code, as paths of the lock file, for the licences and the bill of materials. */
export type Bundled = { packages: Set<string> }

/**
 * Writes the entries of `product` below `into`, each at the path that its source has in the repository, so that the
 * files that a module reads beside itself keep their places; shared code goes to `chunks/`.
 */
export async function bundle(product: Product, into: string): Promise<Bundled> {
  const packages = new Set<string>()
  const build = await rolldown({
    cwd: ROOT,
    input: Object.fromEntries(
      [product.main, ...product.entries].map((path) => [path.replace(/\.ts$/, ''), join(ROOT, path)]),
    ),
    platform: 'node',
    external: (id) => [...product.native, ...product.leftOut].some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [placesInTheRepository(), noted(packages)],
    treeshake: { moduleSideEffects: true },
    logLevel: 'silent',
  })
  await build.write({
    dir: into,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    comments: false,
    // One letter outside Latin-1 makes V8 keep the whole file with two bytes a letter.
    charset: 'ascii',
  })
  await build.close()
  return { packages }
}

/** A module with which a thread or a process begins. */
const BEGINNING = /new URL\('(\.[\w./-]+)\.ts', import\.meta\.url\)/g

/**
 * `import.meta.dirname`, `.filename` and `.url` of our sources keep saying where the source is in the repository, with
 * the extension of what runs: modules find the files beside themselves whichever chunk they are in. A module that
 * `new URL('./x.ts', import.meta.url)` names becomes an entry.
 */
function placesInTheRepository(): Plugin {
  return {
    name: 'places-in-the-repository',
    transform(code, id) {
      if (id.includes('node_modules') || !id.startsWith(ROOT) || !code.includes('import.meta.')) return null
      const path = nameOf(id)
      for (const [, beginning = ''] of code.matchAll(BEGINNING)) {
        const entry = join(dirname(id), `${beginning}.ts`)
        this.emitFile({ type: 'chunk', id: entry, fileName: nameOf(entry) })
      }
      return code
        .replaceAll(BEGINNING, "new URL('$1.js', import.meta.url)")
        .replaceAll('import.meta.dirname', `__place(${JSON.stringify(dirname(path))})`)
        .replaceAll('import.meta.filename', `__place(${JSON.stringify(path)})`)
        .replaceAll('import.meta.url', `__address(${JSON.stringify(path)})`)
    },
    // The depth of a chunk is known only at this step.
    renderChunk(code, chunk) {
      if (!code.includes('__place(') && !code.includes('__address(')) return null
      const up = JSON.stringify('../'.repeat(chunk.fileName.split('/').length - 1) || './')
      const helpers =
        `import{fileURLToPath as __toPath}from"node:url";` +
        `const __address=p=>new URL(${up}+p,import.meta.url).href,__place=p=>__toPath(__address(p));`
      return `${helpers}\n${code}`
    },
  }
}

/** The place of one of our sources in the bundle. */
const nameOf = (source: string) => relative(ROOT, source).split(sep).join('/').replace(/\.ts$/, '.js')

/** Notes the package of every module, as a path of the lock file. */
function noted(packages: Set<string>): Plugin {
  return {
    name: 'noted',
    generateBundle(_, output) {
      for (const part of Object.values(output)) {
        if (part.type !== 'chunk') continue
        for (const id of part.moduleIds) {
          const found = packageOf(id)
          if (found !== undefined) packages.add(found)
        }
      }
    },
  }
}
