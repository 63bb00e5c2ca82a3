/**
 * The assignment problem: each row gets at most one column so that the sum of costs is least. The Hungarian method
 * (Kuhn 1955) as shortest augmenting paths with potentials (Jonker and Volgenant 1987), O(rows^2 * columns).
 */

/**
 * For each row its column, or -1 when there are more rows than columns. `costs` holds finite numbers row by row,
 * `costs[row * columns + column]`.
 */
export function assign(costs: Float64Array, rows: number, columns: number): Int32Array {
  if (rows > columns) return invert(assign(transpose(costs, rows, columns), columns, rows), rows)
  const rowPotential = new Float64Array(rows + 1)
  const columnPotential = new Float64Array(columns + 1)
  // Index 0 stands for "none": rows and columns count from 1 in here.
  const rowOfColumn = new Int32Array(columns + 1)
  const previousColumn = new Int32Array(columns + 1)
  const distance = new Float64Array(columns + 1)
  const isDone = new Uint8Array(columns + 1)
  for (let row = 1; row <= rows; row++) {
    rowOfColumn[0] = row
    distance.fill(Infinity)
    isDone.fill(0)
    let column = 0
    do {
      isDone[column] = 1
      const at = rowOfColumn[column]!
      let least = Infinity
      let nearest = 0
      for (let next = 1; next <= columns; next++) {
        if (isDone[next]) continue
        const reduced = costs[(at - 1) * columns + next - 1]! - rowPotential[at]! - columnPotential[next]!
        if (reduced < distance[next]!) {
          distance[next] = reduced
          previousColumn[next] = column
        }
        if (distance[next]! < least) {
          least = distance[next]!
          nearest = next
        }
      }
      for (let other = 0; other <= columns; other++) {
        if (isDone[other]) {
          rowPotential[rowOfColumn[other]!]! += least
          columnPotential[other]! -= least
        } else distance[other]! -= least
      }
      column = nearest
    } while (rowOfColumn[column] !== 0)
    while (column !== 0) {
      const before = previousColumn[column]!
      rowOfColumn[column] = rowOfColumn[before]!
      column = before
    }
  }
  const columnOfRow = new Int32Array(rows).fill(-1)
  for (let column = 1; column <= columns; column++)
    if (rowOfColumn[column] !== 0) columnOfRow[rowOfColumn[column]! - 1] = column - 1
  return columnOfRow
}

function transpose(costs: Float64Array, rows: number, columns: number): Float64Array {
  const result = new Float64Array(costs.length)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) result[column * rows + row] = costs[row * columns + column]!
  return result
}

function invert(rowOfColumn: Int32Array, rows: number): Int32Array {
  const columnOfRow = new Int32Array(rows).fill(-1)
  for (const [column, row] of rowOfColumn.entries()) columnOfRow[row] = column
  return columnOfRow
}
