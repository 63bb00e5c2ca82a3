import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findFaults } from '../../scripts/public-files.ts'

/** Each file for GitHub, Renovate, editors and containers, broken once in a copy. */
const ROOT = join(import.meta.dirname, '../..')
const FORM = '.github/ISSUE_TEMPLATE/bug.yaml'
const CI = '.github/workflows/ci.yaml'
const RELEASE = '.github/workflows/release.yaml'
let copy: string

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'public-files-'))
  for (const name of ['.github', '.devcontainer', '.editorconfig', 'renovate.json'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true })
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

async function faultsAfter(file: string, from: string, to: string): Promise<string> {
  const path = join(copy, file)
  const before = readFileSync(path, 'utf8')
  expect(before).toContain(from)
  writeFileSync(path, before.replace(from, to))
  const { faults } = await findFaults(copy)
  writeFileSync(path, before)
  return faults.join('\n')
}

it('the files of the repository have no fault', async () => {
  expect((await findFaults(ROOT)).faults).toEqual([])
})

it.each([
  [CI, 'runs-on:', 'run-on:', "Unexpected value 'run-on'"],
  [CI, 'needs: short', 'needs: brief', 'brief'],
  [CI, '${{ matrix.npm }}\n', '${{ matricks.npm }}\n', "Unrecognized named-value: 'matricks'"],
  [CI, /@3d3c\w+ # v7.0.1/.exec(readFileSync(join(ROOT, CI), 'utf8'))![0], '@v7', 'has no full commit hash'],
  [CI, 'contents: read', 'contents: write', 'its permissions are not'],
  [CI, 'NPM: ${{ matrix.npm }}', 'NPM: ${{ secrets.NPM }}', 'a pull request reaches secrets'],
  [RELEASE, 'needs: ci', 'needs: [ci', 'release.yaml'],
  [FORM, 'type: dropdown', 'type: select', '/body/2'],
  [FORM, 'required: true', 'required: 1', '/validations/required'],
  [FORM, 'render: text', 'renders: text', 'renders'],
  ['.github/ISSUE_TEMPLATE/config.yml', 'false', 'maybe', '/blank_issues_enabled'],
  ['renovate.json', '"groupName": "React"', '"groupNames": ["React"]', '/packageRules/3'],
  ['renovate.json', '"rangeStrategy": "pin"', '"rangeStrategy": "pinned"', '/rangeStrategy'],
  ['.devcontainer/devcontainer.json', '[8080]', '["8080"]', '/forwardPorts/0'],
  ['.devcontainer/devcontainer.json', '"image"', '"images"', 'images'],
  ['.editorconfig', 'end_of_line = lf', 'end_of_line = unix', 'end_of_line = unix'],
])('%s: %j as %j is a fault', async (file, from, to, fault) => {
  expect(await faultsAfter(file, from, to)).toContain(fault)
})

it('the matrix has each Node and npm, and calls .ci/run', () => {
  const ci = readFileSync(join(ROOT, CI), 'utf8')
  for (const line of ['node: [20, 22, 24, 26]', 'npm: [9, 10, 11]', 'run: bash .ci/run']) expect(ci).toContain(line)
})
