import { existsSync, globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseSync } from 'oxc-parser'
import { expect, it } from 'vitest'

/**
 * Mantine's style sheets are imported one by one, in `packages/ui/src/kit.tsx`. A component whose sheet is missing
 * there is drawn without its layout, and nothing else says so.
 */
const root = resolve(import.meta.dirname, '../..')
const files = globSync('{apps/{portal,gateway-ui,site}/src,packages/ui/src}/**/*.tsx', { cwd: root })
const kit = readFileSync(resolve(root, 'packages/ui/src/kit.tsx'), 'utf8')

function kitImports(file: string): string[] {
  const { module } = parseSync(file, readFileSync(resolve(root, file), 'utf8'))
  return module.staticImports
    .filter(({ moduleRequest }) => moduleRequest.value === '@mantine/core')
    .flatMap(({ entries }) => entries.flatMap(({ importName }) => importName.name ?? []))
}

it('every component of the kit that is used has its style sheet', () => {
  const used = new Set(files.flatMap(kitImports))
  expect(used).toContain('Button')
  const styled = [...used].filter((name) =>
    existsSync(resolve(root, `node_modules/@mantine/core/styles/${name}.layer.css`)),
  )
  expect(styled.filter((name) => !kit.includes(`/${name}.layer.css`))).toEqual([])
})
