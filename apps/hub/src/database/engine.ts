export type Engine = 'sqlite' | 'postgres'

/** `url` is `sqlite:` and a file's path, or a `postgres://` address. */
export function engineOf(url: string): Engine {
  return url.startsWith('sqlite:') ? 'sqlite' : 'postgres'
}
