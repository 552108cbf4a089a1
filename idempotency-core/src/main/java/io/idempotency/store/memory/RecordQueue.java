package io.idempotency.store.memory;

import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;

import io.idempotency.store.RecordId;
import org.jspecify.annotations.Nullable;

/**
 * Record ids in numbered buckets. Within a bucket, ids are in insertion order. An id is
 * moved while the map locks its entry. The lock of the queue is held for a few reads and
 * writes.
 */
final class RecordQueue {

	final NavigableMap<Long, Node> buckets = new TreeMap<>();

	void move(Node node, @Nullable Long from, @Nullable Long to) {
		if (!Objects.equals(from, to)) {
			synchronized (this) {
				if (from != null) {
					node.unlink();
					this.buckets.computeIfPresent(from, (bucket, head) -> (head.next != head) ? head : null);
				}
				if (to != null) {
					Node head = this.buckets.computeIfAbsent(to, (bucket) -> new Node(null));
					node.link(head.previous, head);
				}
			}
		}
	}

	/** Returns the first id in a bucket up to the given one. */
	synchronized @Nullable RecordId first(long lastBucket) {
		Map.Entry<Long, Node> first = this.buckets.firstEntry();
		return (first != null && first.getKey() <= lastBucket) ? first.getValue().next.id : null;
	}

	/**
	 * A node of a queue. The nodes of a bucket form a ring that starts at its head.
	 */
	static final class Node {

		final @Nullable RecordId id;

		Node previous = this;

		Node next = this;

		Node(@Nullable RecordId id) {
			this.id = id;
		}

		void link(Node last, Node head) {
			this.previous = last;
			this.next = head;
			last.next = this;
			head.previous = this;
		}

		void unlink() {
			this.previous.next = this.next;
			this.next.previous = this.previous;
			this.previous = this;
			this.next = this;
		}

	}

}
