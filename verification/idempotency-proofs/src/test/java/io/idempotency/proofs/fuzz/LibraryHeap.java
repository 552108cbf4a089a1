package io.idempotency.proofs.fuzz;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.core.MethodClassKey;

/**
 * How large the collections are that can be reached from the beans of the library: all of
 * them, also those that nobody thought of when this was written.
 */
final class LibraryHeap {

	private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());

	private final Map<String, Integer> sizes = new TreeMap<>();

	private LibraryHeap() {
	}

	/** The sizes by the field that holds the collection; empty ones are left out. */
	static Map<String, Integer> sizes(ApplicationContext context) {
		LibraryHeap heap = new LibraryHeap();
		for (String name : context.getBeanDefinitionNames()) {
			Class<?> type = context.getType(name);
			if (type != null && isOurs(type) && context.isSingleton(name)) {
				heap.walk(context.getBean(name));
			}
		}
		return heap.sizes;
	}

	private void walk(Object object) {
		if (isOurs(object.getClass()) && this.seen.add(object)) {
			for (Class<?> type = object.getClass(); type != null && isOurs(type); type = type.getSuperclass()) {
				for (Field field : type.getDeclaredFields()) {
					look(object, field);
				}
			}
		}
	}

	private static boolean isOurs(Class<?> type) {
		return type.getName().startsWith("io.idempotency.") && !type.getName().startsWith("io.idempotency.it.")
				&& !type.isHidden() && !type.isEnum();
	}

	private void look(Object holder, Field field) {
		if (field.getType().isPrimitive() || (Modifier.isStatic(field.getModifiers()) && field.isSynthetic())) {
			return;
		}
		try {
			field.setAccessible(true);
			Object value = field.get(holder);
			Collection<Object> elements = elements(value);
			if (!elements.isEmpty()) {
				this.sizes.merge(field.getDeclaringClass().getName() + "." + field.getName(), elements.size(),
						Integer::sum);
			}
			elements.forEach(this::walk);
			if (value != null) {
				walk(value);
			}
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** What is kept for each class or method ends with the code. */
	private static boolean isOfTheCode(Collection<?> keys) {
		return !keys.isEmpty()
				&& keys.stream().allMatch((key) -> key instanceof AnnotatedElement || key instanceof MethodClassKey);
	}

	private static Collection<Object> elements(@Nullable Object value) {
		List<Object> elements = new ArrayList<>();
		if (value instanceof Map<?, ?> map && !isOfTheCode(map.keySet())) {
			elements.addAll(map.keySet());
			elements.addAll(map.values());
		}
		else if (value instanceof Collection<?> collection && !isOfTheCode(collection)) {
			elements.addAll(collection);
		}
		elements.removeIf((element) -> element == null);
		return elements;
	}

}
