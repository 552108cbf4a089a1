-- Handles the two usual claims at once: the first claim of a key, and one that finds the result.
-- All others continue with claim.lua, which defines the rules, arguments and replies. This part
-- creates no table and no function, and uses each argument as it arrives. The positions are those
-- of record.lua.
if not ARGV[7] then
	local named = ARGV[2]
	stored = redis.call('GET', key)
	if not stored then
		redis.call('SET', key, '\3R\0' .. ARGV[1] .. struct.pack('>I8I8I8I8I8', now, now + ARGV[3], now + ARGV[4], 0, 0)
			.. named, 'PX', ARGV[5])
		return struct.pack('>BI8', 1, now)
	end
	local originAt = 28 + string.byte(named)
	if string.sub(stored, 1, 2) == '\3D' and string.sub(stored, 27, originAt - 1) == string.sub(named, 1, originAt - 27) then
		local rest = struct.unpack('>I8', stored, 19) - now
		if rest > 0 then
			return struct.pack('>BI8', 4, rest) .. string.sub(stored, originAt)
		end
	end
end

