import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The path of a Chromium-like browser, and the environment that its process needs. */
export type ChromiumBinary = { executablePath: string; env: Record<string, string>; origin: string }

const SHELLS = ['chromium-headless-shell', 'chrome-headless-shell']
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const MAC_APPLICATIONS = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/**
 * $CHROMIUM_PATH, else an installed Chromium or Chrome, else the one of the dev dependency. A headless shell comes
 * first: the same engine without Chrome's own windows is faster. It shows no notifications: `whole`
 * is for tests that need them.
 */
export async function findChromium(whole = false): Promise<ChromiumBinary> {
  const chosen = process.env.CHROMIUM_PATH
  if (chosen) {
    if (!existsSync(chosen)) throw new Error(`CHROMIUM_PATH names ${chosen}, which does not exist`)
    return { executablePath: chosen, env: {}, origin: 'from CHROMIUM_PATH' }
  }
  const folders = (process.env.PATH ?? '').split(delimiter).concat('/usr/bin', '/usr/local/bin', '/snap/bin')
  const names = whole ? NAMES : [...SHELLS, ...NAMES]
  const candidates = [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...MAC_APPLICATIONS]
  const installed = candidates.find((path) => existsSync(path))
  if (installed) return { executablePath: installed, env: {}, origin: 'installed on this machine' }
  return unpackBundled()
}

/**
 * Unpacks @sparticuz/chromium with its shared libraries into a folder of this user's own, once: the package itself
 * would use one path in the temporary folder for everybody. Other processes may be doing the same, so the folder
 * appears complete or not at all. Its own flags, which switch web security off, are not used.
 */
async function unpackBundled(): Promise<ChromiumBinary> {
  const packageFolder = join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '..')
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as { version: string }
  const home = join(tmpdir(), `hedgerow-chromium-${userInfo().uid}-${version}`)
  if (!existsSync(home)) {
    const { inflate } = await import('@sparticuz/chromium')
    const unpacked = await mkdtemp(`${home}-`)
    const before = process.env.TMPDIR
    process.env.TMPDIR = unpacked
    try {
      for (const archive of ['chromium.br', 'fonts.tar.br', 'al2023.tar.br'])
        await inflate(join(packageFolder, 'bin', archive))
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
    await writeFile(join(unpacked, 'fonts.conf'), fontConfiguration(home))
    await rename(unpacked, home).catch(() => rm(unpacked, { recursive: true }))
  }
  return {
    executablePath: join(home, 'chromium'),
    env: { LD_LIBRARY_PATH: join(home, 'al2023', 'lib'), FONTCONFIG_FILE: join(home, 'fonts.conf') },
    origin: 'carried by @sparticuz/chromium',
  }
}

/** The package's own file names folders of its cloud; a bare machine may have no font at all. */
function fontConfiguration(home: string): string {
  const folders = [join(home, 'fonts'), '/usr/share/fonts', '/usr/local/share/fonts']
  return [
    '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>',
    ...folders.map((folder) => `<dir>${folder}</dir>`),
    `<cachedir>${join(home, 'font-cache')}</cachedir></fontconfig>`,
  ].join('\n')
}
