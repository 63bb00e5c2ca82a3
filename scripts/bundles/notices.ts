/** What a bundle contains and under which licences: CycloneDX 1.6 (ECMA-424) for machines, and a text for people. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LockedPackage } from './locked-packages.ts'

/** Texts of licences by their SPDX identifiers. */
const TEXTS = join(import.meta.dirname, 'licences')
const OWN_TEXT = /^(licen[cs]e|copying|notice|third-party)/i
const README_SECTION = /^#+ *licen[cs].*\n([^]*?)(?=^#|(?![^]))/im

export type Part = LockedPackage & { folder: string }

type About = string | { name?: string; url?: string } | undefined
type Origin = { author?: About; repository?: About }

export function billOfMaterials(product: { name: string; version: string; platform: string }, parts: readonly Part[]) {
  const { name, version, platform } = product
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': `${name}@${version}`,
        name,
        version,
        licenses: [{ license: { id: 'MIT' } }],
        properties: [{ name: 'hedgerow:platform', value: platform }],
      },
    },
    components: parts.map((part) => ({
      type: 'library',
      'bom-ref': `${part.name}@${part.version}`,
      name: part.name,
      version: part.version,
      purl: `pkg:npm/${part.name.replace('@', '%40')}@${part.version}`,
      licenses: [{ expression: part.license }],
      hashes: [
        { alg: 'SHA-512', content: Buffer.from(part.integrity.slice('sha512-'.length), 'base64').toString('hex') },
      ],
    })),
    dependencies: [{ ref: `${name}@${version}`, dependsOn: parts.map((part) => `${part.name}@${part.version}`) }],
  }
}

/** The licence of each part, in the words of its own files; where it brings none, in those of `licences/`. */
export async function licences(parts: readonly Part[]): Promise<string> {
  const texts = await Promise.all(
    parts.map(async (part) => {
      const files = (await readdir(part.folder)).filter((file) => OWN_TEXT.test(file)).toSorted()
      const bodies = await Promise.all(files.map((file) => readFile(join(part.folder, file), 'utf8')))
      if (bodies.length === 0) bodies.push(...(await textsOfPageAndLicence(part)))
      return [`${part.name} ${part.version}: ${part.license}`, ...bodies.map((body) => body.trim())].join('\n\n')
    }),
  )
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** What a package without a licence's file says: its author, the section of its README, and the licence's text. */
async function textsOfPageAndLicence({ name, license, folder }: Part): Promise<string[]> {
  const { author, repository } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Origin
  const [by, from] = [author, repository].map((about) =>
    typeof about === 'object' ? (about.name ?? about.url) : about,
  )
  const [, page = ''] = README_SECTION.exec(await readFile(join(folder, 'README.md'), 'utf8').catch(() => '')) ?? []
  const text = await readFile(join(TEXTS, `${license}.txt`), 'utf8').catch((cause: unknown) => {
    throw new Error(`${name} brings no text of its licence, and ${TEXTS} has none of ${license}`, { cause })
  })
  return [[by, from].filter(Boolean).join(', '), page, text].filter((part) => part.trim() !== '')
}
