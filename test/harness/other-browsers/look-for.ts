/** What a person looks for: something with a role and a name, or words, perhaps within something else. */
export type Sight = {
  role?: Role
  /** The whole name, without regard to case. */
  name?: string | RegExp
  /** A part of what is to be read. */
  text?: string | RegExp
  in?: Sight
  /** Which of several; the first unless set. */
  at?: number
}

type Role = 'button' | 'checkbox' | 'dialog' | 'heading' | 'image' | 'item' | 'link' | 'field' | 'row' | 'group'

export type Step = { role?: Role; words?: string | [source: string, flags: string]; isWhole: boolean; at: number }

/** Its middle, its size, whether a click there reaches it, and its name. */
export type Look = { x: number; y: number; width: number; height: number; isFree: boolean; name: string }

/**
 * Runs in the page, as text, so it uses nothing from outside. `isFocused` puts the keyboard there and chooses what is
 * written in it.
 */
export function lookFor(steps: readonly Step[], isFocused: boolean): Look | null {
  const roles: Record<Role, string> = {
    button: 'button, [role=button]',
    checkbox: 'input[type=checkbox]',
    dialog: '[role=dialog]',
    heading: 'h1, h2, h3, h4',
    image: 'img, [role=img]',
    item: 'li, [role=menuitem], [role=option]',
    link: 'a[href]',
    field: 'input, textarea, select',
    row: 'tr',
    group: 'fieldset, [role=group], section, [role=region]',
  }
  const plain = (text: string | null | undefined) => (text ?? '').replace(/\s+/g, ' ').trim()
  const said = (node: Node): string => {
    if (node instanceof Text) return node.data
    if (!(node instanceof Element) || node.getAttribute('aria-hidden') === 'true') return ''
    return node.getAttribute('alt') ?? [...node.childNodes].map(said).join('')
  }
  const nameOf = (element: Element): string => {
    const by = element.getAttribute('aria-labelledby')?.split(' ') ?? []
    const labels = by.length > 0 ? by.map((id) => document.getElementById(id)) : (element as HTMLInputElement).labels
    const legend = element.querySelector(':scope > legend')
    return plain(
      element.getAttribute('aria-label') ??
        (labels?.length ? [...labels].map((label) => label && said(label)).join(' ') : said(legend ?? element)),
    )
  }
  const isShown = (element: Element) =>
    element.getClientRects().length > 0 && getComputedStyle(element).visibility !== 'hidden'
  const fits = (words: Step['words'], isWhole: boolean, text: string) => {
    if (words === undefined) return true
    if (typeof words !== 'string') return new RegExp(...words).test(text)
    return isWhole ? text.toLowerCase() === words.toLowerCase() : text.includes(words)
  }
  let found: Element | undefined = document.documentElement
  for (const { role, words, isWhole, at } of steps) {
    const has = (element: Element) => fits(words, isWhole, isWhole ? nameOf(element) : plain(element.textContent))
    const all: Element[] = [...found!.querySelectorAll(role === undefined ? 'body, body *' : roles[role])]
    found = all.filter(
      (element) =>
        has(element) && isShown(element) && (role !== undefined || ![...element.children].some((one) => has(one))),
    )[at]
    if (!found) return null
  }
  const element = found as HTMLElement
  if (isFocused) {
    element.focus()
    if ('select' in element && typeof element.select === 'function') (element.select as () => void)()
  }
  const isSeen = () => {
    const { left, right, top, bottom } = element.getBoundingClientRect()
    return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
  }
  if (!isSeen()) element.scrollIntoView({ block: 'center', behavior: 'instant' })
  const { left, top, width, height } = element.getBoundingClientRect()
  const [x, y] = [Math.round(left + width / 2), Math.round(top + height / 2)]
  const hit = document.elementFromPoint(x, y)
  const isFree = hit !== null && (element.contains(hit) || hit.contains(element)) && !element.matches(':disabled')
  return { x, y, width, height, isFree, name: nameOf(element) }
}
