/** Texts in headers (RFC 2047). A text that looks encoded is encoded too: else its reader would decode it. */

/** An encoded word has at most 75 characters (RFC 2047 §2), 12 of them around the text, four for three bytes of it. */
const WORD_BYTES = 45

export function isSafeInHeader(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text) && !text.includes('=?')
}

export function encodedWord(text: string): string {
  return `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
}

/** Several words of a length that mail allows; their reader puts them together. */
export function encodedWords(text: string): string {
  const words = ['']
  for (const character of text) {
    const last = words.length - 1
    if (Buffer.byteLength(words[last] + character) > WORD_BYTES) words.push(character)
    else words[last] += character
  }
  return words.map(encodedWord).join(' ')
}
