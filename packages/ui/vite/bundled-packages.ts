/**
 * Vite plugin: `.bundled-packages.json` names the packages whose code, styles or typefaces are in the build, as paths
 * of the lock file. A release lists them with their licences; the name begins with a dot, so that no server hands it
 * out.
 */
import type { Plugin } from 'vite'

export const BUNDLED_PACKAGES = '.bundled-packages.json'

/** `node_modules/a/node_modules/b` of a file in that package; undefined for a file of ours. */
export function packageOf(path: string): string | undefined {
  const [, found] =
    /[\\/](node_modules[\\/](?:.*[\\/]node_modules[\\/])?(?:@[^\\/]+[\\/])?[^\\/@.][^\\/]*)[\\/]/.exec(path) ?? []
  return found?.replaceAll('\\', '/')
}

export const bundledPackages: Plugin = {
  name: 'bundled-packages',
  apply: 'build',
  generateBundle(_, output) {
    const files = Object.values(output).flatMap((part) =>
      part.type === 'chunk' ? part.moduleIds : part.originalFileNames.map((name) => `/${name}`),
    )
    // Styles are modules of no chunk.
    const styles = [...this.getModuleIds()].filter((id) => /\.css(\?|$)/.test(id))
    const packages = new Set([...files, ...styles].map(packageOf).filter((found) => found !== undefined))
    this.emitFile({ type: 'asset', fileName: BUNDLED_PACKAGES, source: JSON.stringify([...packages].toSorted()) })
  },
}
