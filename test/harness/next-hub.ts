import { execFileSync } from 'node:child_process'
import { createHash, sign } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { namedRelease, readPrivateKey, signText } from '@hedgerow/releases'

type NextHub = {
  /** A release that `npm run release` made, and the folder of its keys. */
  made: string
  keys: string
  /** The folder for the next one. */
  into: string
  version: string
  /** When false, only the archive is made. */
  withPackage?: boolean
  /** Changes the unpacked hub. */
  change?: (folder: string) => void
}

/** The hub of a release again, with a higher version and number, signed: as archive and as package. */
export function makeNextHub({ made, keys, into, version, withPackage = true, change }: NextHub): void {
  const release = namedRelease(readFileSync(join(made, 'release.json'), 'utf8'))!
  const number = release.number + Number(version.split('.')[0])
  const before = release.files.find(({ product }) => product === 'hedgerow-hub')!
  const key = readPrivateKey(readFileSync(join(keys, 'release.key'), 'utf8'))
  mkdirSync(into, { recursive: true })
  const unpacked = mkdtempSync(join(into, '.unpacked-'))
  const renumber = (folder: string) => {
    writeFileSync(join(folder, 'version.json'), JSON.stringify({ version, number }))
    change?.(folder)
  }

  const title = basename(before.name, '.tar')
  execFileSync('tar', ['-xf', join(made, before.name), '-C', unpacked])
  renumber(join(unpacked, title))
  const name = before.name.replace(release.version, version)
  execFileSync('tar', ['-cf', join(into, name), '-C', unpacked, title])

  const names = [name]
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  if (withPackage) {
    const packaged = join(made, `hedgerow-hub_${release.version}_${architecture}.deb`)
    const folder = join(unpacked, 'package')
    execFileSync('dpkg-deb', ['-R', packaged, folder])
    execFileSync('sed', ['-i', `s/^Version: .*/Version: ${version}/`, join(folder, 'DEBIAN/control')])
    renumber(join(folder, 'usr/lib/hedgerow-hub'))
    const file = `hedgerow-hub_${version}_${architecture}.deb`
    execFileSync('dpkg-deb', ['-Znone', '--build', folder, join(into, file)])
    names.push(file)
  }
  rmSync(unpacked, { recursive: true })

  const hashes = names.map((file) =>
    createHash('sha256')
      .update(readFileSync(join(into, file)))
      .digest('hex'),
  )
  const sums = Buffer.from(names.map((file, index) => `${hashes[index]}  ${file}\n`).join(''))
  writeFileSync(join(into, 'SHA256SUMS'), sums)
  writeFileSync(join(into, 'SHA256SUMS.sig'), sign(null, sums, key))
  const files = [{ ...before, name, size: statSync(join(into, name)).size, sha256: hashes[0]! }]
  const list = JSON.stringify({ ...release, version, number, files })
  writeFileSync(join(into, 'release.json'), signText('hedgerow release v1', list, [key]))
  copyFileSync(join(made, 'keys.json'), join(into, 'keys.json'))
}
