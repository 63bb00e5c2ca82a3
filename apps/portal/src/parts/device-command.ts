import { shellWord } from '@hedgerow/contract'

/** An invitation's command with the name and the location of one device. Pure. */
export function deviceCommand(command: string, { name, location }: { name: string; location: string }): string {
  return `${command} --name ${shellWord(name)}${location === '' ? '' : ` --location ${shellWord(location)}`}`
}

/** One word per line, which a shell also accepts, so that no line breaks in the middle of a code. */
export const inLines = (command: string): string =>
  command.replaceAll(/ (?=GATEWAY_|npm |https?:|sh -s |--(?:invitation|name|location) )/g, ' \\\n')
