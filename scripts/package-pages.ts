import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A source file in backticks, and optional parentheses after it: names in backticks, test titles in quotation marks.
 */
const mention = /`([\w./-]+\.(?:ts|as))`(?: \(([^)]*)\))?/g
const named = /`(\w+)`|"([^"]+)"/g

/**
 * Checks the files that a package's page names: each is in the package's `src` folder, in the package or in the
 * project, and contains the names and titles after it. Returns one line for each mistake.
 */
export function mistakesInPackagePage(text: string, packageFolder: string): string[] {
  return [...text.matchAll(mention)].flatMap(([, file = '', details = '']) => {
    const path = [join(packageFolder, 'src', file), join(packageFolder, file), file].find(existsSync)
    if (path === undefined) return [`there is no ${file}`]
    const source = readFileSync(path, 'utf8')
    return [...details.matchAll(named)].flatMap(([, name, title]) => {
      // A title may continue in the page's next line.
      const isThere =
        name === undefined
          ? source.includes((title ?? '').replaceAll(/\s+/g, ' '))
          : new RegExp(`\\b${name}\\b`).test(source)
      return isThere ? [] : [`${file} has no ${name ?? `"${title}"`}`]
    })
  })
}
