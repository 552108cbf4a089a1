package io.idempotency.it.architecture;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;

/**
 * Finds the classes of a package that need each other, so that none of them can be read
 * without all the others (the strongly connected components, by Tarjan). Nested classes
 * count as their outermost class.
 */
final class PackageCircles {

	/** What a class needs of its own package. */
	private final Map<String, Set<String>> needs = new TreeMap<>();

	private final Map<String, Integer> numbers = new HashMap<>();

	private final Map<String, Integer> lowest = new HashMap<>();

	/** The classes whose circle is not complete yet. */
	private final Deque<String> open = new ArrayDeque<>();

	private final Map<String, Set<String>> largest = new TreeMap<>();

	private PackageCircles(JavaClasses classes) {
		for (JavaClass type : classes) {
			String from = outermost(type);
			Set<String> needed = this.needs.computeIfAbsent(from, (name) -> new TreeSet<>());
			for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
				JavaClass target = dependency.getTargetClass().getBaseComponentType();
				if (target.getPackageName().equals(type.getPackageName())) {
					needed.add(outermost(target));
				}
			}
			needed.remove(from);
		}
	}

	/** Returns the largest circle of each package whose largest has more classes. */
	static Map<String, Set<String>> largerThan(int most, JavaClasses classes) {
		PackageCircles circles = new PackageCircles(classes);
		for (String type : circles.needs.keySet()) {
			if (!circles.numbers.containsKey(type)) {
				circles.visit(type);
			}
		}
		circles.largest.values().removeIf((circle) -> circle.size() <= most);
		return circles.largest;
	}

	private void visit(String type) {
		int number = this.numbers.size();
		this.numbers.put(type, number);
		this.lowest.put(type, number);
		this.open.push(type);
		for (String needed : this.needs.getOrDefault(type, Set.of())) {
			if (!this.numbers.containsKey(needed)) {
				visit(needed);
				this.lowest.merge(type, this.lowest.get(needed), Math::min);
			}
			else if (this.open.contains(needed)) {
				this.lowest.merge(type, this.numbers.get(needed), Math::min);
			}
		}
		if (this.lowest.get(type) == number) {
			close(type);
		}
	}

	private void close(String first) {
		Set<String> circle = new TreeSet<>();
		String type;
		do {
			type = this.open.pop();
			circle.add(type.substring(type.lastIndexOf('.') + 1));
		}
		while (!type.equals(first));
		String home = first.substring(0, first.lastIndexOf('.'));
		this.largest.merge(home, circle, (one, other) -> (other.size() > one.size()) ? other : one);
	}

	private static String outermost(JavaClass type) {
		String name = type.getName();
		int nested = name.indexOf('$');
		return (nested > 0) ? name.substring(0, nested) : name;
	}

}
