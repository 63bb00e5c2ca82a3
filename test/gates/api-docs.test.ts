import { readFileSync } from 'node:fs'
import { errorTable } from '@hedgerow/contract'
import { describe, expect, it } from 'vitest'
import { API_PAGE, withContract } from '../../scripts/api-page.ts'

const text = readFileSync(API_PAGE, 'utf8')

describe('docs/api.md', () => {
  it('is what the contract says: npm run api-snapshot', () => {
    expect(withContract(text)).toBe(text)
  })

  it('is mended where it says something else, and keeps what people wrote', () => {
    const [code, { status, message }] = Object.entries(errorTable)[0]!
    const wrong = text
      .replace(/\| `GET \/v1\/hub\/stats` .*\n/, '')
      .replace(`### ${code}\n\n${status}. ${message}\n`, `### ${code}\n\n499. Something else.\n`)
    expect(wrong).not.toBe(text)
    expect(withContract(wrong)).toBe(text)
  })

  it('says what to do about every error, or its sentence does', () => {
    const unexplained = [...text.matchAll(/^### (\w+)\n\n\d{3}\. (?:.+\n)+\n(?=###)/gm)].map(([, code]) => code!)
    for (const code of unexplained) expect(errorTable[code as keyof typeof errorTable].message).toMatch(/\. \w/)
  })
})
