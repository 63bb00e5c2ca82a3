/** What WebDriver of either kind lets a program do with the one window of a browser. */
export type Driver = {
  /** Resolves when the page has loaded; or was replaced meanwhile, or the browser shows an error of its own. */
  goto(url: string): Promise<void>
  /** Runs the text of a function in the page, on arguments that JSON carries, and awaits what it returns. */
  run(declaration: string, args: readonly unknown[]): Promise<unknown>
  /** Input as a person gives it: https://www.w3.org/TR/webdriver2/#actions */
  perform(actions: readonly object[]): Promise<void>
  /** Goes on behind the warning about a certificate; undefined where one consent is for all ports of a host. */
  consent?(): Promise<void>
  close(): Promise<void>
}

/** Functions give JSON back, so that both kinds of WebDriver carry it alike. */
export const asJson = (declaration: string): string =>
  `async (args) => JSON.stringify(await (${declaration})(...JSON.parse(args))) ?? 'null'`
