type Target = object
type Key = string | symbol

/**
 * The three functions of the decorator-metadata proposal that `@peculiar/x509`'s container of algorithms asks the
 * global `Reflect` for when it is loaded. Call it before. A program that has them already keeps its own.
 */
export function provideDecoratorMetadata(): void {
  if ('getMetadata' in Reflect) return
  const stored = new WeakMap<Target, Map<Key, unknown>>()
  const getOwnMetadata = (key: Key, target: Target): unknown => stored.get(target)?.get(key)
  Object.assign(Reflect, {
    getOwnMetadata,
    getMetadata(key: Key, target: Target): unknown {
      for (let at: Target | null = target; at; at = Reflect.getPrototypeOf(at))
        if (stored.get(at)?.has(key)) return getOwnMetadata(key, at)
      return undefined
    },
    defineMetadata(key: Key, value: unknown, target: Target): void {
      const own = stored.get(target) ?? new Map<Key, unknown>()
      stored.set(target, own.set(key, value))
    },
  })
}
