package io.idempotency.it.linkage;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.idempotency.it.linkage.ClassReferences.MemberReference;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Opcodes;

/**
 * Resolves what a class file refers to, as the JVM would do when the code runs, and says
 * what would end in a {@link LinkageError}.
 * <p>
 * Not seen: a static member that became an instance member, a value whose class no longer
 * implements the interface that is called, and names in strings.
 */
final class LinkageChecker {

	private static final Set<String> SIGNATURE_POLYMORPHIC = Set.of("java/lang/invoke/MethodHandle",
			"java/lang/invoke/VarHandle");

	private final ClassPathTypes classPath;

	LinkageChecker(ClassLoader classPath) {
		this.classPath = new ClassPathTypes(classPath);
	}

	List<LinkageProblem> check(byte[] classFile) {
		ClassReader reader = new ClassReader(classFile);
		ClassPathType type = ClassPathType.read(reader);
		ClassReferences references = ClassReferences.of(reader);
		List<LinkageProblem> problems = new ArrayList<>();
		for (String name : references.types()) {
			if (!name.equals(type.name()) && this.classPath.find(name).isEmpty()) {
				problems.add(new LinkageProblem(type.name(), name, "is missing"));
			}
		}
		checkSupertypes(type, problems);
		checkAbstractMethods(type, problems);
		for (MemberReference member : references.members()) {
			checkMember(type, member, problems);
		}
		return problems;
	}

	private void checkSupertypes(ClassPathType type, List<LinkageProblem> problems) {
		for (String name : type.supertypes()) {
			Optional<ClassPathType> supertype = this.classPath.find(name);
			if (supertype.isEmpty()) {
				continue;
			}
			boolean isSuperclass = name.equals(type.superName());
			if (supertype.get().is(Opcodes.ACC_INTERFACE) == isSuperclass) {
				problems.add(new LinkageProblem(type.name(), name,
						isSuperclass ? "is an interface now" : "is no interface any more"));
			}
			if (supertype.get().is(Opcodes.ACC_FINAL)) {
				problems.add(new LinkageProblem(type.name(), name, "is final now"));
			}
		}
	}

	private void checkAbstractMethods(ClassPathType type, List<LinkageProblem> problems) {
		if (type.is(Opcodes.ACC_ABSTRACT)) {
			return;
		}
		ClassPathTypes.Hierarchy hierarchy = this.classPath.hierarchyOf(type);
		if (!hierarchy.missing().isEmpty()) {
			return;
		}
		for (ClassPathType declaring : hierarchy.types()) {
			for (ClassPathType.Member member : declaring.members()) {
				if (member.is(Opcodes.ACC_ABSTRACT) && !isImplemented(member, hierarchy)) {
					problems.add(new LinkageProblem(type.name(), declaring.name(),
							"has an abstract method that is not implemented: " + member.name() + member.descriptor()));
				}
			}
		}
	}

	private static boolean isImplemented(ClassPathType.Member method, ClassPathTypes.Hierarchy hierarchy) {
		return hierarchy.types()
			.stream()
			.flatMap((type) -> type.members().stream())
			.anyMatch((member) -> member.name().equals(method.name()) && member.descriptor().equals(method.descriptor())
					&& !member.is(Opcodes.ACC_ABSTRACT));
	}

	private void checkMember(ClassPathType from, MemberReference reference, List<LinkageProblem> problems) {
		ClassPathType owner = (reference.owner().equals(from.name())) ? from
				: this.classPath.find(reference.owner()).orElse(null);
		if (owner == null) {
			return; // said once, as a missing class
		}
		if (reference.isMethod() && owner.is(Opcodes.ACC_INTERFACE) != reference.ownerIsInterface()) {
			problems.add(new LinkageProblem(from.name(), owner.name(),
					reference.ownerIsInterface() ? "is no interface any more" : "is an interface now"));
			return;
		}
		ClassPathTypes.Hierarchy hierarchy = this.classPath.hierarchyOf(owner);
		if (hierarchy.types().stream().anyMatch((type) -> declares(type, reference, from))) {
			return;
		}
		for (String missing : hierarchy.missing()) {
			problems.add(new LinkageProblem(from.name(), missing, "is missing, a supertype of " + owner.name()));
		}
		if (hierarchy.missing().isEmpty()) {
			problems.add(new LinkageProblem(from.name(), owner.name(), "has no %s %s %s that can be used here"
				.formatted(reference.isMethod() ? "method" : "field", reference.name(), reference.descriptor())));
		}
	}

	private static boolean declares(ClassPathType type, MemberReference reference, ClassPathType from) {
		return type.members()
			.stream()
			.anyMatch((member) -> member.name().equals(reference.name())
					&& (member.descriptor().equals(reference.descriptor()) || isSignaturePolymorphic(type, member))
					&& isAccessible(type, member, from));
	}

	private static boolean isSignaturePolymorphic(ClassPathType type, ClassPathType.Member member) {
		return SIGNATURE_POLYMORPHIC.contains(type.name()) && member.is(Opcodes.ACC_NATIVE);
	}

	private static boolean isAccessible(ClassPathType type, ClassPathType.Member member, ClassPathType from) {
		if (member.is(Opcodes.ACC_PUBLIC) || member.is(Opcodes.ACC_PROTECTED)) {
			return true;
		}
		if (member.is(Opcodes.ACC_PRIVATE)) {
			return outermost(type.name()).equals(outermost(from.name()));
		}
		return packageOf(type.name()).equals(packageOf(from.name()));
	}

	private static String outermost(String name) {
		int nested = name.indexOf('$');
		return (nested > 0) ? name.substring(0, nested) : name;
	}

	private static String packageOf(String name) {
		return name.substring(0, name.lastIndexOf('/') + 1);
	}

}
