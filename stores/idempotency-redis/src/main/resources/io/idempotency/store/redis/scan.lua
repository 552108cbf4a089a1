-- ARGV: cursor, pattern, count
-- Replies the next cursor, then the names that match. The key of this script belongs to no record:
-- in a cluster it says which master to look through. SCAN needs no declared key, and one script works
-- with every client, while a SCAN of the client's own goes to a master of its choice.
local reply = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local names = reply[2]
table.insert(names, 1, reply[1])
return names
