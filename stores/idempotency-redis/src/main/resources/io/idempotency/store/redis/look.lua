-- ARGV: fingerprint
-- Replies as claim.lua does where it finds a result, and nothing where it does not, or where the record
-- is of another version. The positions are those of record.lua.
local fingerprint = ARGV[1]
stored = redis.call('GET', key)
if not stored or string.sub(stored, 1, 2) ~= '\2D' then
	return {}
end
local first, formatAt = struct.unpack('>Bc0', stored, 60)
local rest = struct.unpack('>I8', stored, 36) - now
if rest <= 0 or first ~= '' and fingerprint ~= '' and first ~= fingerprint then
	return {}
end
local format, origin, bodyAt = struct.unpack('>Bc0Bc0', stored, formatAt)
return { 4, rest, format, string.sub(stored, bodyAt), origin }
