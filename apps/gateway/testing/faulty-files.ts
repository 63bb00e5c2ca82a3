/**
 * Files in memory that fail where a test says, and that lose whatever no `sync` has made durable, as a power cut may: a
 * file's content is durable after a sync of the file, an entry of a directory after a sync of the directory. Stricter
 * than real file systems, which keep the order of entries.
 */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UpdateFiles } from '../src/update/versions.ts'

type File = { kind: 'file'; content: string; durable: string | undefined; mode: number }
type Link = { kind: 'link'; target: string }
type Directory = { kind: 'directory'; entries: Map<string, Node>; durable: Map<string, Node> }
type Node = File | Link | Directory

/** How much survives of changes that were not made durable. */
export type Survival = 'all' | 'nothing' | 'torn' | { seed: number }

export type FaultyFiles = UpdateFiles & {
  /** Operations that change or sync something, so far. */
  operations(): number
  /** Writes a tree without a sync, as a program of its own would; counts as one operation for each file. */
  writeTree(directory: string, tree: Readonly<Record<string, string>>): Promise<void>
  /** Makes the current content durable, and ends the fault. */
  settle(): void
  /** The content after a power cut, or after the process was killed (`all`). */
  survivors(survival: Survival): FaultyFiles
  /** Equal for equal content. */
  describe(): string
  /** Writes everything into a real directory. */
  copyTo(directory: string): void
}

export class Killed extends Error {}

export type Fault = { at: number; kind: 'kill' | 'full' }

/** From `fault.at` on, the process is killed, or the disk is full: nothing can be written, much can be removed. */
export function createFaultyFiles(
  root: Directory = { kind: 'directory', entries: new Map(), durable: new Map() },
): FaultyFiles & { fault: Fault | undefined } {
  let count = 0

  const failure = (code: string, path: string) => Object.assign(new Error(`${code}: ${path}`), { code })
  function step(path: string, { needsSpace }: { needsSpace: boolean }): void {
    count += 1
    const { fault } = files
    if (!fault || count <= fault.at) return
    if (fault.kind === 'kill') throw new Killed()
    if (needsSpace) throw failure('ENOSPC', path)
  }
  function find(path: string, { follow = true } = {}): Node | undefined {
    let node: Node = root
    const parts = path.split('/').filter(Boolean)
    for (const [index, part] of parts.entries()) {
      if (node.kind !== 'directory') return undefined
      const next: Node | undefined = node.entries.get(part)
      if (!next) return undefined
      node = next
      if (node.kind === 'link' && (follow || index < parts.length - 1)) {
        const found = find([...parts.slice(0, index), node.target].join('/'))
        if (!found) return undefined
        node = found
      }
    }
    return node
  }
  function directoryOf(path: string): { entries: Map<string, Node>; name: string } {
    const parts = path.split('/').filter(Boolean)
    const name = parts.pop()!
    const parent = find(parts.join('/'))
    if (parent?.kind !== 'directory') throw failure('ENOENT', path)
    return { entries: parent.entries, name }
  }
  function put(path: string, node: Node): void {
    const { entries, name } = directoryOf(path)
    if (entries.has(name)) throw failure('EEXIST', path)
    entries.set(name, node)
  }

  const files = {
    fault: undefined as Fault | undefined,
    operations: () => count,
    async open(path: string, flags: string) {
      if (flags === 'wx') {
        step(path, { needsSpace: true })
        put(path, { kind: 'file', content: '', durable: undefined, mode: 0o600 })
      }
      const node = find(path)
      if (!node) throw failure('ENOENT', path)
      return {
        async chmod(mode: number) {
          if (node.kind === 'file') node.mode = mode
        },
        async writeFile(content: string) {
          step(path, { needsSpace: true })
          if (node.kind === 'file') node.content = content
        },
        async sync() {
          step(path, { needsSpace: false })
          if (node.kind === 'file') node.durable = node.content
          if (node.kind === 'directory') node.durable = new Map(node.entries)
        },
        async close() {},
      }
    },
    async rename(from: string, to: string) {
      step(to, { needsSpace: false })
      const source = directoryOf(from)
      const node = source.entries.get(source.name)
      if (!node) throw failure('ENOENT', from)
      source.entries.delete(source.name)
      const { entries, name } = directoryOf(to)
      entries.set(name, node)
    },
    async rm(path: string) {
      const { entries, name } = directoryOf(path)
      const node = entries.get(name)
      if (!node) return
      // A tree is removed entry by entry.
      if (node.kind === 'directory') for (const child of node.entries.keys()) await files.rm(`${path}/${child}`)
      step(path, { needsSpace: false })
      entries.delete(name)
    },
    async mkdir(path: string) {
      step(path, { needsSpace: true })
      put(path, { kind: 'directory', entries: new Map(), durable: new Map() })
    },
    async symlink(target: string, path: string) {
      step(path, { needsSpace: true })
      put(path, { kind: 'link', target })
    },
    async readlink(path: string) {
      const node = find(path, { follow: false })
      if (!node) throw failure('ENOENT', path)
      if (node.kind !== 'link') throw failure('EINVAL', path)
      return node.target
    },
    async readdir(path: string) {
      const node = find(path)
      if (node?.kind !== 'directory') throw failure('ENOENT', path)
      return [...node.entries].map(([name, { kind }]) => ({
        name,
        isDirectory: () => kind === 'directory',
        isFile: () => kind === 'file',
      }))
    },
    async readFile(path: string) {
      const node = find(path)
      if (node?.kind !== 'file') throw failure('ENOENT', path)
      return node.content
    },
    async writeTree(directory: string, tree: Readonly<Record<string, string>>) {
      for (const [path, content] of Object.entries(tree)) {
        const parts = path.split('/')
        for (let depth = 1; depth < parts.length; depth++) {
          const folder = `${directory}/${parts.slice(0, depth).join('/')}`
          if (!find(folder)) put(folder, { kind: 'directory', entries: new Map(), durable: new Map() })
        }
        step(path, { needsSpace: true })
        put(`${directory}/${path}`, { kind: 'file', content, durable: undefined, mode: 0o755 })
      }
    },
    settle() {
      files.fault = undefined
      const visit = (node: Node): void => {
        if (node.kind === 'file') node.durable = node.content
        if (node.kind !== 'directory') return
        node.durable = new Map(node.entries)
        for (const child of node.entries.values()) visit(child)
      }
      visit(root)
    },
    survivors(survival: Survival) {
      const choose = choiceOf(survival)
      const visit = (node: Node): Node => {
        if (node.kind === 'link') return node
        if (node.kind === 'file') {
          const content = choose.content(node)
          return { kind: 'file', content, durable: content, mode: node.mode }
        }
        const entries = new Map<string, Node>()
        for (const name of new Set([...node.durable.keys(), ...node.entries.keys()])) {
          const [durable, present] = [node.durable.get(name), node.entries.get(name)]
          const stored = durable === present || choose.isPresent() ? present : durable
          if (stored) entries.set(name, visit(stored))
        }
        return { kind: 'directory', entries, durable: new Map(entries) }
      }
      return createFaultyFiles(visit(root) as Directory)
    },
    describe() {
      const visit = (node: Node): unknown =>
        node.kind === 'directory'
          ? [...node.entries].map(([name, child]) => [name, visit(child)]).toSorted()
          : node.kind === 'file'
            ? node.content
            : { link: node.target }
      return JSON.stringify(visit(root))
    },
    copyTo(directory: string) {
      const visit = (node: Node, path: string): void => {
        if (node.kind === 'link') return symlinkSync(node.target, path)
        if (node.kind === 'file') {
          writeFileSync(path, node.content)
          return chmodSync(path, node.mode)
        }
        mkdirSync(path, { recursive: true })
        for (const [name, child] of node.entries) visit(child, join(path, name))
      }
      visit(root, directory)
    },
  }
  return files as unknown as FaultyFiles & { fault: Fault | undefined }
}

function choiceOf(survival: Survival) {
  const half = (text: string) => text.slice(0, Math.floor(text.length / 2))
  if (survival === 'all') return { isPresent: () => true, content: (file: File) => file.content }
  if (survival === 'nothing') return { isPresent: () => false, content: (file: File) => file.durable ?? '' }
  if (survival === 'torn')
    return {
      isPresent: () => true,
      content: (file: File) => (file.durable === file.content ? file.content : half(file.content)),
    }
  // Numerical Recipes' linear congruential generator: any sequence works that is the same every time.
  let state = survival.seed
  const coin = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) > 0x7fff_ffff
  return {
    isPresent: coin,
    content: (file: File) =>
      file.durable === file.content || coin() ? file.content : coin() ? half(file.content) : (file.durable ?? ''),
  }
}
