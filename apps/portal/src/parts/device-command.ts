/** One word of a POSIX shell command, whatever it contains (POSIX.1, section 2.2.2). */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** An invitation's command with the name and the location of one device. Pure. */
export function deviceCommand(command: string, { name, location }: { name: string; location: string }): string {
  return `${command} --name ${quoted(name)}${location === '' ? '' : ` --location ${quoted(location)}`}`
}

/** One word per line, which a shell also accepts, so that no line breaks in the middle of a code. */
export const inLines = (command: string): string =>
  command.replaceAll(/ (?=GATEWAY_|npm |https?:|sudo |--(?:invitation|name|location) )/g, ' \\\n')
