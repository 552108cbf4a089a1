package io.idempotency.web;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The members of one object, as pieces of a form that start with their names. Not
 * thread-safe.
 */
final class JsonMembers {

	/** The largest number of members for which a sort by insertion is not slower. */
	private static final int FEW = 24;

	private int[] starts = new int[8];

	private int count;

	void start(int position) {
		if (this.count == this.starts.length) {
			this.starts = Arrays.copyOf(this.starts, 2 * this.count);
		}
		this.starts[this.count++] = position;
	}

	/**
	 * Sorts the members by name.
	 * @return whether no two members have the same name
	 */
	boolean sort(ByteSink sink) {
		byte[] bytes = sink.array();
		if (isSorted(bytes)) {
			return true;
		}
		int[] order = (this.count <= FEW) ? sortFew(bytes) : sortMany(bytes);
		for (int i = 1; i < order.length; i++) {
			if (compareNames(bytes, order[i - 1], order[i]) == 0) {
				return false;
			}
		}
		rearrange(sink, order);
		return true;
	}

	/** Sorts by insertion, which needs no objects. */
	private int[] sortFew(byte[] bytes) {
		int[] order = new int[this.count];
		for (int i = 0; i < order.length; i++) {
			int to = i;
			while (to > 0 && compareNames(bytes, order[to - 1], i) > 0) {
				order[to] = order[to - 1];
				to--;
			}
			order[to] = i;
		}
		return order;
	}

	private int[] sortMany(byte[] bytes) {
		return IntStream.range(0, this.count)
			.boxed()
			.sorted((a, b) -> compareNames(bytes, a, b))
			.mapToInt(Integer::intValue)
			.toArray();
	}

	private boolean isSorted(byte[] bytes) {
		for (int i = 1; i < this.count; i++) {
			if (compareNames(bytes, i - 1, i) >= 0) {
				return false;
			}
		}
		return true;
	}

	private void rearrange(ByteSink sink, int[] order) {
		int start = this.starts[0];
		int end = sink.size();
		byte[] members = Arrays.copyOfRange(sink.array(), start, end);
		sink.truncate(start);
		for (int i : order) {
			int next = (i + 1 < this.count) ? this.starts[i + 1] : end;
			sink.write(members, this.starts[i] - start, next - this.starts[i]);
		}
	}

	/** Compares two names. Each name ends with a byte that occurs in no name. */
	private int compareNames(byte[] bytes, int one, int other) {
		int a = this.starts[one];
		int b = this.starts[other];
		while (bytes[a] == bytes[b]) {
			if ((bytes[a] & 0xFF) == JsonBody.END_OF_STRING) {
				return 0;
			}
			a++;
			b++;
		}
		return Byte.compareUnsigned(bytes[a], bytes[b]);
	}

}
