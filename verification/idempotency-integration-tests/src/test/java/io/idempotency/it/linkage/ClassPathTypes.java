package io.idempotency.it.linkage;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import org.objectweb.asm.ClassReader;

/**
 * The classes that a class loader can see, read and never loaded: nothing is initialised
 * by looking.
 */
final class ClassPathTypes {

	private final ClassLoader loader;

	private final Map<String, Optional<ClassPathType>> types = new HashMap<>();

	ClassPathTypes(ClassLoader loader) {
		this.loader = loader;
	}

	Optional<ClassPathType> find(String name) {
		return this.types.computeIfAbsent(name, this::read);
	}

	private Optional<ClassPathType> read(String name) {
		try (InputStream in = this.loader.getResourceAsStream(name + ".class")) {
			return (in != null) ? Optional.of(ClassPathType.read(new ClassReader(in))) : Optional.empty();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The type and all its supertypes, nearest first. */
	Hierarchy hierarchyOf(ClassPathType type) {
		List<ClassPathType> found = new ArrayList<>();
		Set<String> missing = new HashSet<>();
		Set<String> seen = new HashSet<>();
		Deque<ClassPathType> open = new ArrayDeque<>(List.of(type));
		while (!open.isEmpty()) {
			ClassPathType current = open.remove();
			found.add(current);
			for (String name : current.supertypes()) {
				if (seen.add(name)) {
					find(name).ifPresentOrElse(open::add, () -> missing.add(name));
				}
			}
		}
		return new Hierarchy(found, missing);
	}

	/**
	 * A type with its supertypes.
	 *
	 * @param types those that were found
	 * @param missing the names of those that were not
	 */
	record Hierarchy(List<ClassPathType> types, Set<String> missing) {
	}

}
