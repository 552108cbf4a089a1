package io.idempotency.benchmarks.house;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Who names whom. */
final class TypeGraph {

	private final Map<String, Set<String>> named = new HashMap<>();

	private final Map<String, Set<String>> users = new HashMap<>();

	/** Adds a type: those nested in it have class files of their own. */
	void add(ClassFile file) {
		for (String name : file.names()) {
			this.named.computeIfAbsent(file.type(), (type) -> new TreeSet<>()).add(name);
			this.users.computeIfAbsent(name, (type) -> new TreeSet<>()).add(file.type());
		}
	}

	/** The types that name this one. */
	Set<String> usersOf(String type) {
		return this.users.getOrDefault(type, Set.of());
	}

	/**
	 * Returns the largest set of types each of which leads to each other, by way of some
	 * of these types alone; an empty one if there is none of two.
	 */
	Set<String> largestCircle(Collection<String> types) {
		Set<String> largest = Set.of();
		Set<String> left = new TreeSet<>(types);
		while (!left.isEmpty()) {
			String first = left.iterator().next();
			Set<String> circle = reached(first, this.named, types);
			circle.retainAll(reached(first, this.users, types));
			left.removeAll(circle);
			if (circle.size() > Math.max(largest.size(), 1)) {
				largest = circle;
			}
		}
		return largest;
	}

	private static Set<String> reached(String first, Map<String, Set<String>> edges, Collection<String> within) {
		Set<String> allowed = new HashSet<>(within);
		Set<String> reached = new TreeSet<>(List.of(first));
		Deque<String> next = new ArrayDeque<>(reached);
		while (!next.isEmpty()) {
			List<String> found = new ArrayList<>(edges.getOrDefault(next.pop(), Set.of()));
			found.retainAll(allowed);
			found.stream().filter(reached::add).forEach(next::push);
		}
		return reached;
	}

}
