/**
 * The path of the file with this checksum (`sha512-…`, as in a lock file) in npm's cache, below its folder.
 *
 * @param {string} integrity
 */
export function cachedAt(integrity) {
  const [algorithm = '', digest = ''] = integrity.split('-');
  const hex = Buffer.from(digest, 'base64').toString('hex');
  return `_cacache/content-v2/${algorithm}/${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex.slice(4)}`;
}
