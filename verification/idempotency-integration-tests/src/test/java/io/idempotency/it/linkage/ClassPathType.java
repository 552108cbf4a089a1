package io.idempotency.it.linkage;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * What linking needs to know of a class file. Names are internal ones, with slashes.
 *
 * @param name the name
 * @param access the access flags
 * @param superName the superclass, {@code null} for {@code java/lang/Object}
 * @param interfaces the direct interfaces
 * @param members the declared fields and methods
 */
record ClassPathType(String name, int access, @Nullable String superName, List<String> interfaces,
		List<Member> members) {

	static ClassPathType read(ClassReader reader) {
		List<Member> members = new ArrayList<>();
		reader.accept(new ClassVisitor(Opcodes.ASM9) {

			@Override
			public FieldVisitor visitField(int access, String name, String descriptor, @Nullable String signature,
					@Nullable Object value) {
				members.add(new Member(name, descriptor, access));
				return null;
			}

			@Override
			public MethodVisitor visitMethod(int access, String name, String descriptor, @Nullable String signature,
					String @Nullable [] exceptions) {
				members.add(new Member(name, descriptor, access));
				return null;
			}

		}, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
		return new ClassPathType(reader.getClassName(), reader.getAccess(), reader.getSuperName(),
				List.of(reader.getInterfaces()), members);
	}

	boolean is(int flag) {
		return (this.access & flag) != 0;
	}

	/** The direct supertypes, the superclass first. */
	List<String> supertypes() {
		List<String> supertypes = new ArrayList<>();
		if (this.superName != null) {
			supertypes.add(this.superName);
		}
		supertypes.addAll(this.interfaces);
		return supertypes;
	}

	/**
	 * A declared field or method.
	 *
	 * @param name the name
	 * @param descriptor the descriptor; that of a method starts with a parenthesis
	 * @param access the access flags
	 */
	record Member(String name, String descriptor, int access) {

		boolean is(int flag) {
			return (this.access & flag) != 0;
		}

		boolean isMethod() {
			return this.descriptor.startsWith("(");
		}

	}

}
