-- Completes the usual claim at once: it is running, and no other call ever took it over. All others
-- continue with complete.lua, which defines the rules and arguments; see claim-usual.lua.
stored = redis.call('GET', key)
if stored and ARGV[3] ~= '0' and string.sub(stored, 1, 19) == '\3R\0' .. ARGV[1] and now < struct.unpack('>I8', stored, 36) then
	local done
	if ARGV[2] == 'X' then
		local retention = tonumber(ARGV[3])
		done = '\3X' .. string.sub(stored, 3, 27)
			.. struct.pack('>I8I8I8I8', now + math.min(ARGV[8], retention), now + retention, 0, 0)
			.. string.sub(stored, 60)
	else
		done = '\3' .. ARGV[2] .. string.sub(stored, 12, 27) .. struct.pack('>I8', now + ARGV[3])
			.. string.sub(stored, 60) .. ARGV[5] .. ARGV[6]
	end
	redis.call('SET', key, done, 'PX', ARGV[4])
	return 1
end

