/**
 * A guarded call: an interceptor finds the operation of the called method and hands the
 * call to a door, which reads key and fingerprint and gives it to the engine. The method
 * door is the one that takes what no other takes.
 */
@NullMarked
package io.idempotency.aop;

import org.jspecify.annotations.NullMarked;
