import type { Page } from 'playwright-core'

/** The editor of gateway.yaml. It shows what is in view only, so `text` is for short files. */
export function textEditor(page: Page) {
  const field = page.getByRole('textbox', { name: 'gateway.yaml' })
  return {
    field,
    fill: (text: string) => field.fill(text),
    async text(): Promise<string> {
      await field.waitFor()
      return (await field.locator('.cm-line').allTextContents()).join('\n')
    },
    /** The text before the cursor. */
    beforeCursor: () =>
      field.evaluate((content) => {
        const { focusNode, focusOffset } = (content.getRootNode() as Document).getSelection()!
        const range = document.createRange()
        range.setStart(content, 0)
        range.setEnd(focusNode!, focusOffset)
        return range.toString()
      }),
    /** What is marked as wrong. */
    marked: (severity: 'error' | 'warning') => field.locator(`.cm-lintRange-${severity}`).allTextContents(),
  }
}
