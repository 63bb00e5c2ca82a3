import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startBrowser, type BrowserHandle } from '../harness/browser.ts'
import { signInToDevice, startDevice } from '../harness/device.ts'
import { textEditor } from '../harness/text-editor.ts'
import { waitFor } from '../harness/wait-for.ts'

/** The editor of gateway.yaml. */
let browser: BrowserHandle
beforeAll(async () => {
  browser = await startBrowser()
})
afterAll(() => browser?.close())

const FILE = `# by hand
cameras:
  orchard: { zones: { "by the stream": [[0, 0], [1, 0], [1, 1]] } }
sources: { api: {} }
deterrents:
  pump: { driver: command, "on": ["true"], "off": ["true"] }
`

async function openEditor(text: string) {
  const { gateway, file } = await startDevice(text)
  const person = await browser.person()
  onTestFinished(() => person.close())
  const page = await person.newPage()
  const scripts: string[] = []
  page.on('response', (answer) => scripts.push(new URL(answer.url()).pathname))
  await signInToDevice(page, gateway)
  await page.getByRole('link', { name: 'Configuration' }).waitFor()
  const isEditor = (path: string) => path.includes('text-editor') && path.endsWith('.js')
  expect(scripts.some(isEditor)).toBe(false)
  await page.getByRole('link', { name: 'Configuration' }).click()
  const editor = textEditor(page)
  await editor.field.waitFor()
  expect(scripts.some(isEditor)).toBe(true)
  return { page, editor, file, options: page.getByRole('listbox').getByRole('option') }
}

test('keys, values and names are offered, with what they mean, and a rule is written with them', async () => {
  const { page, editor, file, options } = await openEditor(FILE)
  const { keyboard } = page
  await editor.field.press('Control+End')
  await keyboard.type('ru')
  await options.filter({ hasText: 'rules' }).waitFor()
  await page.getByText('Which detections fire which deterrents, and when.').waitFor()
  await keyboard.press('Escape')
  await keyboard.type('les:')
  await keyboard.press('Enter')
  await keyboard.type('  - name: Deer')
  await keyboard.press('Enter')
  await keyboard.press('Control+Space')
  await options.filter({ hasText: 'fire' }).filter({ hasText: 'required' }).waitFor()
  await keyboard.type('zon')
  await expect.poll(() => options.allTextContents()).toEqual(['zones'])
  await options.click()
  await expect.poll(() => editor.text()).toContain('\n    zones: ')
  await keyboard.type('[')
  await keyboard.press('Control+Space')
  await expect.poll(() => options.allTextContents()).toEqual(['by the stream'])
  await options.click()
  await keyboard.type(']')
  await keyboard.press('Enter')
  await keyboard.type('labels: [deer]')
  await keyboard.press('Enter')
  await keyboard.type('fire: [')
  await keyboard.press('Control+Space')
  await expect.poll(() => options.allTextContents()).toEqual(['pump'])
  await options.click()
  await keyboard.type(']')
  const rule = `rules:
  - name: Deer
    zones: [by the stream]
    labels: [deer]
    fire: [pump]`
  await expect.poll(() => editor.text()).toBe(`${FILE}${rule}`)
  await page.getByRole('button', { name: 'Save' }).click()
  await waitFor(async () => (await readFile(file, 'utf8')) === `${FILE}${rule}`, { for: 'the rule in the file' })
})

test('errors stand in their place; F8 goes to the next one, and Tab leaves the editor', async () => {
  const { page, editor } = await openEditor(`${FILE}rules: [{ name: A, labels: [deer], fire: [pmp], sceonds: 3 }]\n`)
  await expect.poll(() => editor.marked('error')).not.toEqual([])
  await expect.poll(() => page.locator('.cm-lint-marker-error').count()).toBe(1)
  await editor.field.focus()
  await page.keyboard.press('F8')
  await page.locator('.cm-tooltip-lint').waitFor()
  const isInEditor = () => editor.field.evaluate((content) => content.matches(':focus'))
  expect(await isInEditor()).toBe(true)
  await page.keyboard.press('Tab')
  expect(await isInEditor()).toBe(false)
  expect(await editor.text()).not.toContain('\t')
  await page.keyboard.press('Shift+Tab')
  expect(await isInEditor()).toBe(true)
})

test('a file with the line ends of Windows keeps them', async () => {
  const text = FILE.replaceAll('\n', '\r\n')
  const { page, editor, file } = await openEditor(text)
  expect(await page.getByRole('button', { name: 'Undo all changes' }).isDisabled()).toBe(true)
  await editor.field.press('Control+End')
  await page.keyboard.type('# mine')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Save' }).click()
  await waitFor(async () => (await readFile(file, 'utf8')) === `${text}# mine\r\n`, { for: 'the line in the file' })
})
