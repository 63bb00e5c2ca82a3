/** What a bundle contains and under which licences: CycloneDX 1.6 (ECMA-424) for machines, one text for people. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LockedPackage } from './locked-packages.ts'

export type Part = LockedPackage & { folder: string }

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

/** The licence of each part, in the words of its own files. */
export async function licences(parts: readonly Part[]): Promise<string> {
  const texts = await Promise.all(
    parts.map(async ({ name, version, license, folder }) => {
      const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|notice|third-party)/i.test(file))
      const bodies = await Promise.all(files.toSorted().map((file) => readFile(join(folder, file), 'utf8')))
      return [`${name} ${version}: ${license}`, ...bodies.map((body) => body.trim())].join('\n\n')
    }),
  )
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}
