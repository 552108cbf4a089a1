/**
 * The method door: a bean post-processor adds an interceptor to beans with guarded
 * methods, and the interceptor turns the annotation of the called method into an
 * operation and hands the call to a door.
 */
@NullMarked
package io.idempotency.aop;

import org.jspecify.annotations.NullMarked;
