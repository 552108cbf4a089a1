package io.idempotency.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import org.jspecify.annotations.Nullable;

/**
 * Finds and removes records in Redis. One step scans the names on one master in one round
 * trip, and reads the heads of the selected records in a second one.
 */
final class RedisRecordAdmin implements RecordAdmin {

	private static final String START = "0";

	private final RedisIdempotencyStore store;

	private final RedisKeyspace keyspace;

	private final RedisMasters masters;

	RedisRecordAdmin(RedisIdempotencyStore store, RedisKeyspace keyspace, RedisMasters masters) {
		this.store = store;
		this.keyspace = keyspace;
		this.masters = masters;
	}

	@Override
	public Optional<IdempotencyRecord> find(RecordKey key) {
		List<?> reply = this.store.run(RedisScript.FIND, new byte[][] { this.keyspace.key(key) });
		return Optional.ofNullable(RedisReplies.record(key, reply));
	}

	@Override
	public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
		ScanCursor from = (cursor != null) ? ScanCursor.parse(cursor) : new ScanCursor(0, "", START);
		List<RedisMasters.Master> all = this.store.carryOut(RedisScript.SCAN,
				(deadline) -> this.masters.find(this.keyspace));
		RedisMasters.Master master = RedisMasters.from(all, from.firstSlot());
		if (master == null) {
			return new IdempotencyRecordPage(List.of(), null);
		}
		// A cursor means something only to the server that returned it.
		String position = from.node().equals(master.node()) ? from.position() : START;
		List<byte[]> reply = this.store.run(RedisScript.SCAN, new byte[][] { master.route(),
				RedisValues.ascii(position), this.keyspace.pattern(selection), RedisValues.of(count) });
		String next = new String(reply.get(0), StandardCharsets.US_ASCII);
		RedisMasters.Master following = next.equals(START) ? RedisMasters.from(all, master.firstSlot() + 1) : master;
		return new IdempotencyRecordPage(read(reply.subList(1, reply.size()), selection),
				(following != null) ? new ScanCursor(following.firstSlot(), following.node(), next).toString() : null);
	}

	private List<IdempotencyRecord> read(List<byte[]> names, RecordSelection selection) {
		Map<RecordKey, byte[][]> heads = new LinkedHashMap<>();
		for (byte[] name : names) {
			RecordKey key = this.keyspace.read(name, selection);
			if (key != null) {
				heads.put(key, new byte[][] { name });
			}
		}
		if (heads.isEmpty()) {
			return List.of();
		}
		Iterator<List<?>> replies = this.store.<List<?>>runAll(RedisScript.FIND, List.copyOf(heads.values()))
			.iterator();
		return heads.keySet()
			.stream()
			.flatMap((key) -> Stream.ofNullable(RedisReplies.record(key, replies.next())))
			.toList();
	}

	@Override
	public Eviction evict(RecordKey key, boolean force) {
		Long reply = this.store.run(RedisScript.EVICT, new byte[][] { this.keyspace.key(key), RedisValues.of(force) });
		if (reply == 0) {
			return Eviction.ABSENT;
		}
		return (reply == 1) ? Eviction.EVICTED : Eviction.RUNNING;
	}

	/**
	 * The position at which a scan continues.
	 *
	 * @param firstSlot the first slot of the master
	 * @param node the id of the master, empty for a server that is not a cluster node
	 * @param position the cursor that the master returned, in decimal digits
	 */
	private record ScanCursor(int firstSlot, String node, String position) {

		static ScanCursor parse(String text) {
			String[] parts = text.split("\\.", -1);
			if (parts.length != 3 || !parts[0].matches("\\d{1,5}") || !parts[2].matches("\\d{1,20}")) {
				throw new IllegalArgumentException("The cursor does not belong to this store");
			}
			return new ScanCursor(Integer.parseInt(parts[0]), parts[1], parts[2]);
		}

		@Override
		public String toString() {
			return this.firstSlot + "." + this.node + "." + this.position;
		}

	}

}
