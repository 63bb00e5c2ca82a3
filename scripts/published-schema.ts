import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A schema as its authors publish it: in a package of npm, or at an address. Its hash pins it. */
export type PublishedSchema = { name: string; sha256: string } & ({ npm: string; file: string } | { url: string })

const CACHE = join(import.meta.dirname, '../node_modules/.cache/published-schemas')

/** Its text, or undefined where it cannot be had now. It is kept in node_modules and never in the repository. */
export async function publishedSchema(schema: PublishedSchema): Promise<object | undefined> {
  const cached = join(CACHE, `${schema.sha256}.json`)
  const text = textOf(cached) ?? (await ('npm' in schema ? fromNpm(schema) : fromAddress(schema.url)))
  if (text === undefined) return undefined
  const sha256 = createHash('sha256').update(text).digest('hex')
  if (sha256 !== schema.sha256) throw new Error(`The schema of ${schema.name} has changed: its SHA-256 is ${sha256}.`)
  mkdirSync(CACHE, { recursive: true })
  writeFileSync(cached, text)
  return JSON.parse(text) as object
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function fromNpm({ npm, file }: { npm: string; file: string }): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'published-schema-'))
  try {
    execFileSync('npm', ['pack', '--silent', '--prefer-offline', '--pack-destination', folder, npm], {
      cwd: folder,
      stdio: 'pipe',
      timeout: 60_000,
    })
    execFileSync('sh', ['-c', 'tar -xzf *.tgz "package/$0"', file], { cwd: folder, stdio: 'pipe' })
    return textOf(join(folder, 'package', file))
  } catch {
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fromAddress(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) })
    return answer.ok ? await answer.text() : undefined
  } catch {
    return undefined
  }
}
