-- ARGV: cursor, pattern, count
-- Replies the next cursor, then the matching names. The key of this script does not belong to a
-- record: in a cluster, it selects the master to scan. SCAN needs no declared key. A script works with
-- every client, while a client's SCAN command goes to a master of its choice.
local reply = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local names = reply[2]
table.insert(names, 1, reply[1])
return names
